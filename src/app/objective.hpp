// The option --objective, and the options that define the load of a device in a pipeline.
#pragma once

#include <memory>
#include <string>

#include "app/command_line.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::app {

struct ObjectiveArgument {
  std::string name = "step";
  bool overlap = false;
  bool separate_phases = false;

  void add(CommandLine& cli);
  // InputError for an unknown name, and for --overlap or --separate-phases without `pipeline`.
  [[nodiscard]] Objective get() const;
  [[nodiscard]] std::unique_ptr<simulate::Engine> make_engine(const Problem& problem, Schedule schedule) const;
  [[nodiscard]] simulate::PipelineOptions pipeline() const { return {overlap, separate_phases}; }
};

// A table of compute time, transfer time and load of each device; "" if the placement has no loads.
std::string load_table(const Problem& problem, const Placement& placement, const simulate::PipelineOptions& options);

}  // namespace emplace::app
