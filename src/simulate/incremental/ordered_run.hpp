// One base placement's in-order run, laid out and recorded by position in the order, and what becomes of it when a few
// ops stand on other devices: only the stretch of the order in which the two runs differ is walked.
//
// State before a position: when each device and each line is free, and the arrivals of what has been sent. A run
// that agrees with the base in all of it up to one shift stays shifted by it for good. Agreement need not be literal:
// what does not decide when its next user starts, neither in the base nor shifted, may differ.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

class OrderedRun {
 public:
  // The problem must be one that incremental_supports().
  explicit OrderedRun(const Layout& layout);

  // Takes over an order and devices; nothing is recorded yet.
  void lay_out(const Placement& placement);
  // Puts the op at a position on a device. The base on record stays.
  void put(std::uint32_t position, std::uint8_t device);
  // Simulates the ops as they are put and makes that the base. With `from` only from there on: no op that reads or
  // sends differently may stand before it. Returns the makespan.
  Ticks record(std::uint32_t from = 0);
  // The makespan of the ops as they are put; `changed` are the positions, ascending, of all ops that run elsewhere or
  // send to other devices than in the base.
  Ticks retrace(const std::vector<std::uint32_t>& changed);

  // Ops that the last retrace simulated.
  [[nodiscard]] std::uint64_t walked() const;

  [[nodiscard]] std::uint32_t position(std::uint32_t op) const { return position_[op]; }
  // Of the op at a position, in the base.
  [[nodiscard]] Ticks start(std::uint32_t position) const { return start_[position]; }

  // Slots are told apart by their slack, in so many classes.
  static constexpr std::size_t classes = 5;
  // Slots are looked at four at a time. Their arrays are that much longer; the first slot too many stands for no input.
  static constexpr std::size_t lanes = 4;

 private:
  struct Step {  // of an op, by position; one more at the end
    Ticks time;
    std::uint32_t out;    // where its slots begin
    std::uint32_t more;   // where its inputs beyond two begin in more_inputs_
    std::uint32_t in[2];  // slots of its inputs, or the empty slot
  };
  struct Slot {  // a tensor on its way to one consumer, by position of the producer
    std::uint32_t consumer;
    std::uint32_t tensor;
  };
  struct Pair {
    Ticks contended;  // all bits, or none
    std::uint32_t column;
  };
  struct Stretch {
    std::uint32_t begin, end;
  };

  // The state at every spacing_'th position of the base, and what comes of it.
  struct Checkpoint {
    Ticks* free;        // D
    Ticks* next_start;  // D: of the device's next op; the makespan where there is none
    Ticks* next_end;    // D: of the device's next op; later than anything where there is none
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
  // What a transfer waits for. Private: a line a pair of devices, D x D. Else: the channels.
  std::size_t lines_count_;
  std::vector<std::uint32_t> line_source_;
  std::vector<Ticks> line_contended_;  // all bits, or none
  std::vector<Pair> pairs_;            // D x D
  std::uint32_t spacing_;
  std::uint32_t boundaries_;

  // Of the order.
  std::vector<std::uint32_t> order_, position_;  // N
  std::vector<Step> steps_;                      // N + 1
  std::vector<std::uint32_t> more_inputs_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> first_crossing_;  // by boundary: before the first op that sends across it
  std::vector<std::uint8_t> device_;           // N, as put

  // Of the base, by position or slot. What lies behind the last slot stays 0.
  std::vector<Ticks> start_, end_, arrival_;
  std::vector<Ticks> slack_;  // how long a slot's tensor lies there before its consumer starts
  Ticks makespan_ = 0;
  std::vector<Ticks> checkpoints_;
  // boundaries x thresholds: the last op that waits for a slot sent before the boundary with less slack than that.
  std::vector<Ticks> thresholds_;
  std::vector<std::uint32_t> reach_;

  // Of the walk.
  std::vector<Ticks> free_, lines_, trial_;
  std::vector<std::uint32_t> sent_;  // D: the last tensor sent there
  std::vector<Ticks> arrival_on_;    // D
  std::vector<Stretch> walked_;
  Ticks failed_shift_ = 0;
  std::uint32_t retry_at_ = 0;      // with that shift, no position before this one agrees
  std::uint32_t looked_until_ = 0;  // with that shift, slots of positions before this one
};

}  // namespace emplace::simulate
