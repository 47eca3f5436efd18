// The integer program of a step: devices of units, starts of ops, and which of two ops runs first on a device (as in
// Davidovic et al. 2007, and Venugopalan and Sinnen 2015, with unlike devices and memory).
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/grouping.hpp"
#include "search/exact/integer_program.hpp"
#include "search/exact/step_model.hpp"

namespace emplace::search {

class StepProgram {
 public:
  // Relative error of a step time that the solver's tolerances may cause.
  static constexpr double resolution = 1e-6;

  // Contains all schedules of the model that end by `latest`, which is scaled to 1000. The number of rows grows with
  // ops^2 x devices.
  StepProgram(const Problem& problem, const StepModel& model, Ticks latest);

  [[nodiscard]] const IntegerProgram& program() const { return program_; }
  // The placement of a solution: devices, and an order by start.
  [[nodiscard]] Placement placement_of(const std::vector<double>& solution) const;
  [[nodiscard]] double ticks_of(double objective) const { return objective * unit_; }

 private:
  using Terms = std::vector<std::pair<int, double>>;

  [[nodiscard]] double scaled(Ticks ticks) const { return static_cast<double>(ticks) / unit_; }
  [[nodiscard]] int x(std::uint32_t op, std::size_t device) const {
    return share_[units_.unit_of_op[op] * model_.devices + device];
  }
  void add_columns(Ticks latest);
  void add_memory();
  void add_symmetry();
  void add_load();
  void add_arcs();
  void add_pairs(Ticks latest);
  void add_pair(std::uint32_t first, std::uint32_t second, int order, double first_when, Ticks latest);
  // Adds factor x the op's time on its device; with_tail: plus the least time from its end to the end of the step.
  void put_time(Terms& terms, std::uint32_t op, double factor, bool with_tail) const;

  const Problem& problem_;
  const StepModel& model_;
  const Grouping units_;
  const double unit_;         // ticks
  std::vector<int> share_;    // U x D: column; -1: the unit cannot be there
  std::vector<int> start_;    // N: column
  std::vector<Ticks> head_;   // N: earliest start of the op
  std::vector<Ticks> after_;  // N: least time from its start to the end of the step
  int makespan_ = 0;          // column
  IntegerProgram program_;
};

}  // namespace emplace::search
