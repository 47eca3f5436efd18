// What a kernel of the batch engine reads and writes, as plain pointers: kernels are compiled for several instruction
// sets, so they must not share inline functions (of the standard library or ours) with the rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emplace::batch {

inline constexpr unsigned lanes = 16;
// Up to this many devices, the devices of an op are one word of 16 bits a device: which lanes have the op there.
inline constexpr unsigned most_one_hot = 4;
inline constexpr unsigned most_devices = 64;  // of all kernels

struct View {
  std::size_t ops;
  unsigned devices;
  // The walk, op after op in the order: op id, slot of its ready time (or no_slot), tensors; for each tensor with
  // consumers: their number; for each consumer: op id, slot * 2 + (1 if nothing is in the slot yet).
  const std::uint32_t* code;
  std::size_t code_size;
  const double* op_time;   // in order: a row of `devices`; infinite where the op cannot run
  const double* transfer;  // in the order of the tensors in the code: a row of `columns`, the last of them infinite
  std::size_t columns;
  const std::int64_t* column;     // devices x devices: of the transfer row
  const std::int64_t* contended;  // devices x devices: all bits, or none
  bool uniform;                   // one column for all pairs, all contended

  const std::uint8_t* const* placement;  // lanes pointers to the device of each op
  std::uint8_t* device;                  // ops x lanes, 16 more behind
  std::uint64_t* where;                  // ops, up to most_one_hot devices: bit 16 d + lane
  double* ready;                         // slots x lanes
  double* free;                          // (1 + devices) x devices x lanes
  double* makespan;                      // lanes; infinite if an op cannot run or a route is missing
};

inline constexpr std::uint32_t no_slot = 0xffffffff;

// Evaluates the 16 placements.
void run_plain(const View& view);
void run_avx2(const View& view);
void run_avx512(const View& view);

}  // namespace emplace::batch
