// The instances of docs/papers/tarnawski.md, section 5 and a way to place them.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/files.hpp"
#include "emplace/search/placer.hpp"
#include "formats/workload/workload.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "tests/support/outside_files.hpp"

namespace emplace::test {

inline const std::string partitioning_folder = outside_file("workloads/dnn-partitioning/throughput-inputs/");

// The instance of the file; the numbers of devices replace those of the file unless they are negative.
inline Problem partitioning_instance(const std::string& instance, int accelerators = -1, int cpus = -1) {
  const std::string file = partitioning_folder + instance + ".json";
  std::string text = read_file(file);
  const auto put = [&](const std::string& key, int value) {
    if (value < 0) return;
    const std::size_t at = text.find("\"" + key + "\"");
    const std::size_t digit = at == std::string::npos ? at : text.find_first_of("0123456789", at);
    if (digit == std::string::npos) throw std::runtime_error(file + " does not tell " + key);
    text.replace(digit, 1, std::to_string(value));
  };
  put("maxFPGAs", accelerators);
  put("maxCPUs", cpus);
  return formats::read_problem_text(text, file);
}

inline search::PlacerResult place_pipeline(const std::string& method, const Problem& problem,
                                           const std::vector<std::pair<std::string, std::string>>& options = {},
                                           const simulate::PipelineOptions& count = {},
                                           std::optional<double> seconds = std::nullopt) {
  std::vector<std::unique_ptr<simulate::Engine>> engines;
  engines.push_back(simulate::make_pipeline_engine(problem, count));
  const auto evaluator = evaluate::make_local_evaluator_on(std::move(engines));
  search::PlacerRequest request;
  request.problem = &problem;
  request.objective = Objective::pipeline;
  request.pipeline = count;
  request.seconds = seconds;
  request.evaluator = evaluator.get();
  ConfigTable table("command line");
  for (const auto& [name, value] : options) table.set(name, ConfigTable::parse_value(value, "command line"));
  return search::place_with(method, request, table);
}

inline double load_ms(const search::PlacerResult& result) {
  return static_cast<double>(result.outcome.makespan) * 1e-9;
}

}  // namespace emplace::test
