// The integer program of docs/papers/tarnawski.md, section 2.6: the split of least load, with contiguous pieces or any.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/exact/integer_program.hpp"
#include "search/pipeline/device_kinds.hpp"

namespace emplace::search {

struct SplitProgramOptions {
  simulate::PipelineOptions count;
  bool contiguous = true;
  // Only splits whose load is smaller than this, by at least `resolution`, are wanted; nothing: any load.
  std::optional<Ticks> better_than;
};

class SplitProgram {
 public:
  // Relative error of a load that the solver's tolerances may cause.
  static constexpr double resolution = 1e-6;

  // Contains all splits that are feasible for the objective, with one binary column per co-location group and device.
  // Loads are scaled so that `better_than`, or else the time of all ops together, is 1000. Times of less than 1e-9 of
  // that are left out, so the program's load is never above the split's.
  SplitProgram(const Problem& problem, const SplitProgramOptions& options);

  [[nodiscard]] const IntegerProgram& program() const { return program_; }
  // N: the device of each op.
  [[nodiscard]] std::vector<std::uint8_t> split_of(const std::vector<double>& solution) const;
  [[nodiscard]] double ticks_of(double objective) const { return objective * unit_; }
  // The load that is 1000 in the program.
  [[nodiscard]] Ticks scale() const { return static_cast<Ticks>(1000 * unit_); }

 private:
  [[nodiscard]] int x(std::size_t unit, std::size_t device) const {
    return static_cast<int>(unit * problem_.device_count() + device);
  }
  void add_units();
  void add_memory();
  void add_symmetry();
  void add_loads();
  void add_contiguity();

  const Problem& problem_;
  const SplitProgramOptions options_;
  const std::vector<DeviceKind> kinds_;
  std::vector<std::uint32_t> unit_of_op_;  // N
  std::size_t units_ = 0;
  std::vector<std::size_t> kind_of_device_;
  double unit_ = 1;  // ticks
  IntegerProgram program_;
};

}  // namespace emplace::search
