// Runs a placer with the objective `step` on one problem, evaluated in this process.
#pragma once

#include <string>

#include "emplace/search/placer.hpp"

namespace emplace::test {

inline search::PlacerResult place(const std::string& method, const Problem& problem, Schedule schedule,
                                  std::uint64_t evaluations, const Placement* start = nullptr, std::uint64_t seed = 1,
                                  const ConfigTable& options = {}) {
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, {schedule, Objective::step});
  search::PlacerRequest request;
  request.problem = &problem;
  request.schedule = schedule;
  request.seed = seed;
  request.evaluations = evaluations;
  request.evaluator = evaluator.get();
  request.start = start;
  return search::place_with(method, request, options);
}

}  // namespace emplace::test
