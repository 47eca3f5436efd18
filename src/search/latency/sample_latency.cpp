#include "search/latency/sample_latency.hpp"

#include <fmt/core.h>

#include "base/text.hpp"
#include "simulate/published/published.hpp"

namespace emplace::search {

std::unique_ptr<simulate::Engine> make_latency_engine(const Problem& problem) {
  return simulate::choose_simulator("tarnawski-latency").make(problem);
}

std::string sample_latency_text(const Outcome& outcome) {
  if (!outcome.timed()) return "one sample has no latency in the model of tarnawski-latency";
  return fmt::format("one sample takes {} in the model of tarnawski-latency{}",
                     human_seconds(to_seconds(outcome.makespan)), outcome.feasible() ? "" : ", but not feasibly");
}

std::string sample_latency_text(const Problem& problem, const std::vector<std::uint8_t>& devices) {
  return sample_latency_text(make_latency_engine(problem)->evaluate({devices, {}}));
}

}  // namespace emplace::search
