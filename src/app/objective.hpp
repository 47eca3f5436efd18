// --objective and how the load of a pipeline is counted.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "emplace/simulate/pipeline.hpp"

namespace emplace::app {

struct ObjectiveArgument {
  std::string name = "step";
  bool overlap = false;
  bool separate_phases = false;

  void add(CLI::App& cli);
  // InputError for an unknown name, and for --overlap or --separate-phases without `pipeline`.
  [[nodiscard]] Objective get() const;
  [[nodiscard]] std::unique_ptr<Engine> make_engine(const Problem& problem, Schedule schedule) const;
  [[nodiscard]] PipelineOptions pipeline() const { return {overlap, separate_phases}; }
};

// Compute, transfers and load of each device; "" where there is no load.
std::string load_table(const Problem& problem, const Placement& placement, const PipelineOptions& options);

}  // namespace emplace::app
