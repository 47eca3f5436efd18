// The integer program of docs/papers/tarnawski.md, section 2.7: the split of least latency of one sample.
#pragma once

#include <cstdint>
#include <vector>

#include "search/exact/integer_program.hpp"
#include "search/pipeline/device_kinds.hpp"

namespace emplace::search {

class LatencyProgram {
 public:
  // Relative error of a latency that the solver's tolerances may cause.
  static constexpr double resolution = 1e-6;

  // Contains all splits with a latency of at most `latest` (scaled to 1000) in which every accelerator runs at most
  // `subgraphs` contiguous subgraphs, one after the other. With one subgraph the program's latency is that of the
  // simulator; with more it may be smaller, because the program chooses how to cut a device's ops into subgraphs.
  LatencyProgram(const Problem& problem, std::size_t subgraphs, Ticks latest);

  [[nodiscard]] const IntegerProgram& program() const { return program_; }
  // N: the device of each op.
  [[nodiscard]] std::vector<std::uint8_t> split_of(const std::vector<double>& solution) const;
  [[nodiscard]] double ticks_of(double objective) const { return objective * unit_; }
  // The longest path, with every op at its least time: no split has a smaller latency.
  [[nodiscard]] Ticks longest_path() const { return longest_path_; }

 private:
  using Terms = std::vector<std::pair<int, double>>;
  // A contiguous subgraph of an accelerator. Columns, but for the device.
  struct Slot {
    std::uint8_t device;
    int start, finish;
  };
  // What a tensor's transfers to and from a slot depend on. Columns; -1: no such transfer.
  struct Crossing {
    int in, out;
  };

  void add_units();
  void add_memory();
  void add_symmetry();
  void add_times(Ticks latest);
  void add_transfers();
  Crossing add_crossing(int producer, int consumer, const Crossing& whole);
  void add_slots();
  void add_hosts();
  void add_contiguity();
  // The column that is 1 if the op is in the slot.
  [[nodiscard]] int x(std::uint32_t op, std::size_t slot) const {
    return subgraphs_ == 1 ? y(unit_of_op_[op], slots_[slot].device)
                           : first_part_ + static_cast<int>(op * slots_.size() + slot);
  }
  // The column that is 1 if the unit is on the device.
  [[nodiscard]] int y(std::size_t unit, std::size_t device) const {
    return static_cast<int>(unit * problem_.device_count() + device);
  }
  [[nodiscard]] double scaled(Ticks ticks) const { return static_cast<double>(ticks) / unit_; }
  void at_most(const Terms& terms, double most) { program_.add_row(terms, -IntegerProgram::unlimited, most); }
  void at_least(const Terms& terms, double least) { program_.add_row(terms, least, IntegerProgram::unlimited); }

  const Problem& problem_;
  const std::size_t subgraphs_;
  const double unit_;  // ticks
  const std::vector<DeviceKind> kinds_;
  std::vector<std::size_t> kind_of_device_;
  std::vector<std::uint32_t> unit_of_op_;  // N
  std::size_t units_ = 0;
  std::vector<std::uint8_t> hosts_;  // those that the program uses: one of equal ones
  std::vector<Slot> slots_;
  Ticks longest_path_ = 0;
  int first_part_ = 0, latency_ = 0;  // columns
  std::vector<int> end_;              // N: column of L(v), the time at which the op's result can be used
  std::vector<int> inner_;            // N: column of the time at which the op itself is done
  std::vector<Crossing> transfers_;   // T x slots
  std::vector<Terms> load_;           // by slot
  IntegerProgram program_;
};

}  // namespace emplace::search
