// What a kernel of the batch engine reads and writes, as plain pointers: kernels are compiled for several instruction
// sets, so they must not share inline functions (of the standard library or ours) with the rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emplace::batch {

inline constexpr unsigned lanes = 16;
// Up to this many devices, an op has a word of 16 bits a device: the lanes that have the op there.
inline constexpr unsigned most_one_hot = 4;
inline constexpr unsigned most_devices = 64;  // of all kernels

// Ready times are in slots. Nothing is ever written into the first; nothing is read from the second.
inline constexpr std::uint32_t zero_slot = 0;
inline constexpr std::uint32_t waste_slot = 1;

// A stretch of the order, walked by all lanes before the next, so that what they share is read from far away once.
struct Stretch {
  std::size_t code, op, tensor;  // where it begins
};

struct View {
  std::size_t ops;
  unsigned devices;
  // The walk, op after op in the order: op id, slot of its ready time, tensors that have consumers; for each of these
  // its consumers; for each consumer: op id, slot that holds the latest arrival so far, slot to put the new one into.
  // Slots are counted in doubles. Up to most_one_hot devices consumers come (and are counted) in pairs, an odd one with
  // the op itself.
  const std::uint32_t* code;
  const Stretch* stretches;  // one more than there are: the end
  std::size_t stretch_count;
  const double* op_time;   // in the walk's order: a row of `devices`; infinite where the op cannot run
  const double* transfer;  // in the walk's order: a row of `columns`
  std::size_t columns;
  const std::int64_t* column;     // devices x devices: of the transfer row; the last where there is no route
  const std::int64_t* contended;  // devices x devices: all bits, or none
  bool uniform;                   // one column for all pairs, all contended

  const std::uint8_t* const* placement;  // lanes pointers to the device of each op
  std::uint8_t* device;                  // ops x lanes, and 16 more
  std::uint8_t* where;                   // ops x 8, and 8 more: words of bits 16 d + lane
  double* ready;                         // slots x lanes
  double* device_free;                   // devices x lanes
  double* pair_free;                     // devices x devices x lanes
  double* makespan;                      // lanes; infinite if an op cannot run or a route is missing
};

// Evaluates the 16 placements.
void run_plain(const View& view);
void run_avx2(const View& view);
void run_avx512(const View& view);

}  // namespace emplace::batch
