// The in-order run of one base placement, recorded by position in the order, and the run after a few ops have moved to
// other devices: only the stretches of the order in which the two runs differ are simulated.
//
// The state before a position: when each device and each line is free, and when the tensors sent so far arrive. If all
// these times are later than in the base by the same shift, then all later ops are later by that shift too. A time may
// also differ otherwise if the next op or transfer that waits for it starts later anyway, in the base and after the
// shift.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

class OrderedRun {
 public:
  // The problem must be one that incremental_supports().
  explicit OrderedRun(const Layout& layout);

  // Sets the order and the devices of all ops; records no run yet.
  void lay_out(const Placement& placement);
  // Puts the op at a position on a device. The recorded base does not change.
  void put(std::uint32_t position, std::uint8_t device);
  // Simulates the ops on their present devices and makes that run the base. With `from` it only simulates from that
  // position on; no op before it may read or send differently than in the base. Returns the makespan.
  Ticks record(std::uint32_t from = 0);
  // The makespan of the ops on their present devices. `changed`: the positions, ascending, of all ops that run on
  // another device or send to other devices than in the base.
  Ticks retrace(const std::vector<std::uint32_t>& changed);

  // Number of ops that the last retrace simulated.
  [[nodiscard]] std::uint64_t walked() const;

  [[nodiscard]] std::uint32_t position(std::uint32_t op) const { return position_[op]; }
  // Start of the op at a position, in the base.
  [[nodiscard]] Ticks start(std::uint32_t position) const { return start_[position]; }

  // Number of classes into which slots are divided by their slack.
  static constexpr std::size_t classes = 5;
  // Slots are processed four at a time, so their arrays have four more entries; the first of these stands for "no
  // input".
  static constexpr std::size_t lanes = 4;

 private:
  struct Step {  // one per position, and one more at the end
    Ticks time;
    std::uint32_t out;    // position of the first slot that it sends
    std::uint32_t more;   // position in more_inputs_ of its third input
    std::uint32_t in[2];  // slots of its inputs, or the empty slot
  };
  struct Slot {  // a tensor sent to one consumer; sorted by position of the producer
    std::uint32_t consumer;
    std::uint32_t tensor;
  };
  struct Pair {
    Ticks contended;  // all bits set, or none
    std::uint32_t column;
  };
  struct Stretch {
    std::uint32_t begin, end;
  };

  // The state of the base at a boundary, which is every spacing_'th position, and what happens next.
  struct Checkpoint {
    Ticks* free;        // D
    Ticks* next_start;  // D: start of the device's next op; the makespan if there is none
    Ticks* next_end;    // D: end of the device's next op; a time later than all others if there is none
    Ticks* lines;
  };
  Checkpoint checkpoint(std::uint32_t boundary);

  template <bool Record, bool Private>
  Ticks walk(std::uint32_t begin, std::uint32_t end);
  template <bool Record>
  Ticks walk(std::uint32_t begin, std::uint32_t end);
  void send_by_routes(std::uint32_t from, Ticks now, std::uint32_t begin, std::uint32_t end);
  void load(std::uint32_t boundary);
  void summarise();

  bool shifted_for_good(std::uint32_t boundary, Ticks shift);
  bool as_in_base(std::uint32_t boundary, std::uint32_t until);
  std::uint32_t deciding_slots(std::uint32_t boundary, std::uint32_t until, Ticks shift, std::uint32_t from) const;
  std::uint32_t deciding_slots_before(Ticks shift) const;

  const Layout& layout_;
  const std::size_t devices_;
  const std::uint32_t ops_;
  const bool private_;
  // Lines for which transfers wait. If private_, one per pair of devices, D x D; else the channels.
  std::size_t lines_count_;
  std::vector<std::uint32_t> line_source_;
  std::vector<Ticks> line_contended_;  // all bits set, or none
  std::vector<Pair> pairs_;            // D x D
  std::uint32_t spacing_;
  std::uint32_t boundaries_;

  // Data of the order.
  std::vector<std::uint32_t> order_, position_;  // N
  std::vector<Step> steps_;                      // N + 1
  std::vector<std::uint32_t> more_inputs_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> first_crossing_;  // indexed by boundary: position of the first op that sends across it
  std::vector<std::uint8_t> device_;           // N: present device of the op at each position

  // Data of the base, by position or slot. Entries after the last slot stay 0.
  std::vector<Ticks> start_, end_, arrival_;
  std::vector<Ticks> slack_;  // time from the arrival of the slot's tensor to the start of its consumer
  Ticks makespan_ = 0;
  std::vector<Ticks> checkpoints_;
  // boundaries x classes: the last op with an input that is sent before the boundary and has less slack than the
  // threshold.
  std::vector<Ticks> thresholds_;
  std::vector<std::uint32_t> reach_;

  // Data of the walk.
  std::vector<Ticks> free_, lines_, arrival_after_move_;
  std::vector<std::uint32_t> sent_;  // D: the last tensor sent to each device
  std::vector<Ticks> arrival_on_;    // D
  std::vector<Stretch> walked_;
  Ticks failed_shift_ = 0;
  std::uint32_t retry_at_ = 0;      // with that shift, no boundary before this position agrees with the base
  std::uint32_t looked_until_ = 0;  // with that shift, slots of positions before this one have been checked
};

}  // namespace emplace::simulate
