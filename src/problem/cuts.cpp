#include "problem/cuts.hpp"

#include <algorithm>

namespace emplace {

bool is_cut(const Problem& problem, std::uint32_t tensor, const std::uint8_t* device) {
  const std::uint8_t from = device[problem.producer[tensor].index()];
  return std::ranges::any_of(problem.consumers[tensor], [&](std::uint32_t op) { return device[op] != from; });
}

std::uint32_t count_cuts(const Problem& problem, const std::uint8_t* device) {
  std::uint32_t cuts = 0;
  for (std::uint32_t tensor = 0; tensor < problem.tensor_count(); ++tensor) cuts += is_cut(problem, tensor, device);
  return cuts;
}

void judge_cuts(const Problem& problem, const std::uint8_t* device, Outcome& outcome) {
  if (problem.max_cuts != no_cut_limit && outcome.feasible()) judge_cuts(problem, count_cuts(problem, device), outcome);
}

void judge_cuts(const Problem& problem, std::uint32_t cuts, Outcome& outcome) {
  if (cuts <= problem.max_cuts || !outcome.feasible()) return;
  outcome.why = Infeasible::too_many_cuts;
  outcome.subject = cuts;
}

}  // namespace emplace
