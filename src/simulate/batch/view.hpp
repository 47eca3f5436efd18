// The data that a kernel of the batch engine reads and writes, as plain pointers: kernels are compiled for several
// instruction sets, so they must not share inline functions (of the standard library or ours) with the rest of the
// program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emplace::simulate::batch {

inline constexpr unsigned lanes = 16;
// Up to this many devices, an op has a word with 16 bits per device, which mark the lanes that have the op there.
inline constexpr unsigned most_one_hot = 4;
inline constexpr unsigned most_devices = 64;  // limit of all vector kernels
inline constexpr unsigned most_on_lines = 6;  // limit if pairs of devices share lines

// Ready times are in slots. The first slot is never written, the second is never read.
inline constexpr std::uint32_t zero_slot = 0;
inline constexpr std::uint32_t waste_slot = 1;

// A stretch of the order. All lanes walk one stretch before the next, so that data that they share is loaded from outer
// caches once.
struct Stretch {
  std::size_t code, op, tensor;                // positions at which it begins
  std::size_t op_code, sizes, numbered_input;  // of BoundView
};

// The data for bounds of the peaks of memory (bound.hpp), for up to most_bounded devices. Words have 16 bits per
// device, as in View::where.
inline constexpr unsigned most_bounded = 8;

struct BoundView {
  // For each tensor with consumers, sorted by number of consumers: its number in the walk's order, the producer, and
  // the number of consumers; then for each consumer, from the last in the walk to the first, its op and the number of
  // this input or no_input. Inputs are numbered in the walk's order, except those whose tensor has no other consumer.
  const std::uint32_t* tensor_code;
  std::size_t tensor_code_size;
  // For each op in the walk's order: op id, number of pairs of numbered inputs (at least one, filled up with inputs of
  // 0 bytes), number of tensors that have consumers.
  const std::uint32_t* op_code;
  // Sizes are counts of a unit of bytes, rounded up. For each op in the walk's order: what is allocated at its start,
  // what is freed at its end, each of its numbered inputs, each of its tensors with consumers.
  const std::int32_t* sizes;
  const std::int32_t* resident;  // N, by op id; null: all are 0

  // Scratch memory.
  std::uint8_t* sent;        // tensors x words of 8 bytes: the devices to which it is sent
  std::uint16_t* all_away;   // tensors: lanes in which all consumers are on other devices
  std::uint16_t* last;       // inputs: lanes in which the buffer is freed when this consumer ends
  std::uint16_t* last_sent;  // inputs: the same, but the buffer has also been sent
  float* end;                // ops of a stretch x lanes
  float* until;              // tensors of a stretch x lanes: end of all transfers of the producer's device so far
  void* state;               // 5 x devices + 1 x lanes of 4 bytes
  struct Late {
    const float* end;          // of the producer
    const std::uint8_t* sent;  // of the tensor
    std::int32_t size;
  };
  Late* late;             // tensors of a stretch + 1: those that may count in earlier stretches
  std::int32_t* highest;  // stretches x devices x lanes: highest level in a stretch
  float* clock;           // stretches x devices x lanes: end of each device's last op before a stretch
  std::int32_t* peak;     // devices x lanes: the bounds
};
inline constexpr std::uint32_t no_input = 0xffffffff;

struct View {
  std::size_t ops;
  unsigned devices;
  // The walk, for each op in the order: op id, slot of its ready time, number of tensors that have consumers. For each
  // of these tensors the number of consumers, and for each consumer: op id, slot of the latest arrival so far, slot for
  // the new latest arrival. Slots are counted in doubles. With one_hot() consumers come (and are counted) in pairs, an
  // odd one together with the op itself.
  const std::uint32_t* code;
  const Stretch* stretches;  // stretch_count + 1: the last one marks the end
  std::size_t stretch_count;
  const double* op_time;   // in the walk's order, rows of `devices`; infinite if the op cannot run there
  const double* transfer;  // in the walk's order, rows of `columns`
  std::size_t columns;
  const std::int64_t* column;     // devices x devices: column in the rows of `transfer`; the last without a route
  const std::int64_t* contended;  // devices x devices: all bits set, or none
  bool uniform;                   // one column for all pairs, and all contended
  // devices x devices: the position from which the free time of the pair's line is read, and the one to which the new
  // free time is written. Without contention the first is a line that stays free, and the second a line that is never
  // read.
  const std::int64_t *line, *line_after;
  bool shared_lines;  // some pairs wait for the same line

  // Whether consumers come in pairs.
  [[nodiscard]] bool one_hot() const { return devices <= most_one_hot && !shared_lines; }

  const std::uint8_t* const* placement;  // one pointer per lane, to the device of each op
  std::uint8_t* device;                  // ops x lanes, and 16 bytes more
  std::uint8_t* where;                   // ops x words of 8 bytes, and 8 bytes more; bit 16 d + lane
  double* ready;                         // slots x lanes
  double* device_free;                   // devices x lanes
  double* pair_free;                     // (devices x devices + 2) x lanes: of pairs, or of lines
  double* makespan;                      // lanes; infinite if an op cannot run or a route is missing
  const BoundView* bound;                // null: memory is not bounded
};

// Evaluates the 16 placements.
void run_plain(const View& view);
void run_avx2(const View& view);
void run_avx512(const View& view);

}  // namespace emplace::simulate::batch
