// What a kernel of the batch engine reads and writes, as plain pointers: kernels are compiled for several instruction
// sets, so they must not share inline functions (of the standard library or ours) with the rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emplace::simulate::batch {

inline constexpr unsigned lanes = 16;
// Up to this many devices, an op has a word of 16 bits a device: the lanes that have the op there.
inline constexpr unsigned most_one_hot = 4;
inline constexpr unsigned most_devices = 64;  // of all kernels
inline constexpr unsigned most_on_lines = 6;  // where pairs share lines

// Ready times are in slots. Nothing is ever written into the first; nothing is read from the second.
inline constexpr std::uint32_t zero_slot = 0;
inline constexpr std::uint32_t waste_slot = 1;

// A stretch of the order, walked by all lanes before the next, so that what they share is read from far away once.
struct Stretch {
  std::size_t code, op, tensor;                // where it begins
  std::size_t op_code, sizes, numbered_input;  // of BoundView
};

// What bounds the peaks of memory (batch_bound.hpp); D up to most_bounded devices, words of 16 bits a device as in
// View::where.
inline constexpr unsigned most_bounded = 8;

struct BoundView {
  // Tensor after tensor that has consumers, those with as many of them together: its number in the walk's order, the
  // producer, the number of consumers; for each consumer, from the last in the walk to the first: its op, and the
  // number of this input or no_input. Inputs are numbered in the walk's order, but for those whose tensor has no other
  // consumer.
  const std::uint32_t* tensor_code;
  std::size_t tensor_code_size;
  // Op after op in the walk's order: op id, pairs of numbered inputs (at least one, filled up with
  // inputs of no bytes), tensors that have consumers.
  const std::uint32_t* op_code;
  // Sizes are counts of a unit, rounded up. In the same order: what is held from an op's start; what is let go at its
  // end; each of its numbered inputs; each of its tensors.
  const std::int32_t* sizes;
  const std::int32_t* resident;  // ops, by id; null: all are 0

  // Scratch.
  std::uint8_t* sent;        // tensors x words of 8: where it is sent
  std::uint16_t* all_away;   // tensors: lanes that make it where no consumer is
  std::uint16_t* last;       // inputs: lanes that let the buffer go when this consumer ends
  std::uint16_t* last_sent;  // inputs: lanes that need it no more then, but have sent it
  float* end;                // ops of a stretch x lanes
  float* until;  // tensors of a stretch x lanes: when all is sent that its producer's device has sent so far
  void* state;   // 5 x devices + 1 x lanes of 4 bytes
  struct Late {
    const float* end;          // of the producer
    const std::uint8_t* sent;  // of the tensor
    std::int32_t size;
  };
  Late* late;             // tensors of a stretch, and one: those that may matter to stretches before
  std::int32_t* highest;  // stretches x devices x lanes: highest level in a stretch
  float* clock;           // stretches x devices x lanes: end of each device's last op before a stretch
  std::int32_t* peak;     // devices x lanes: the bounds
};
inline constexpr std::uint32_t no_input = 0xffffffff;

struct View {
  std::size_t ops;
  unsigned devices;
  // The walk, op after op in the order: op id, slot of its ready time, tensors that have consumers; for each of these
  // its consumers; for each consumer: op id, slot that holds the latest arrival so far, slot to put the new one into.
  // Slots are counted in doubles. With one_hot() consumers come (and are counted) in pairs, an odd one with
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
  // devices x devices: where the free time of the pair's line is, and where the next one goes. Without contention that
  // is a line that stays free, and one that nobody reads.
  const std::int64_t *line, *line_after;
  bool shared_lines;  // some pairs wait for the same

  // Whether consumers come in pairs.
  [[nodiscard]] bool one_hot() const { return devices <= most_one_hot && !shared_lines; }

  const std::uint8_t* const* placement;  // lanes pointers to the device of each op
  std::uint8_t* device;                  // ops x lanes, and 16 more
  std::uint8_t* where;                   // ops x words of 8, and 8 more: bits 16 d + lane
  double* ready;                         // slots x lanes
  double* device_free;                   // devices x lanes
  double* pair_free;                     // devices x devices + 2 x lanes: of pairs, or of lines
  double* makespan;                      // lanes; infinite if an op cannot run or a route is missing
  const BoundView* bound;                // null: memory is not wanted
};

// Evaluates the 16 placements.
void run_plain(const View& view);
void run_avx2(const View& view);
void run_avx512(const View& view);

}  // namespace emplace::simulate::batch
