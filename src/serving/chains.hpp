// Several searches of one problem, on the threads of this machine. With a budget of evaluations their number is fixed
// and each has its share, so that the result is the same for any number of threads.
#pragma once

#include <functional>

#include "emplace/base/random.hpp"
#include "search/common/deadline.hpp"
#include "serving/flow.hpp"
#include "serving/placer.hpp"

namespace emplace::serving {

// One of the searches.
struct Chain {
  const Request& request;
  FlowEvaluator flow;
  Stream stream;
  std::uint64_t evaluations = 0;       // its budget
  const std::function<bool()>& ended;  // whether its time is over, or another one has found what nothing exceeds
};

struct ChainResult {
  Layout layout;
  Rate rate = 0;
  std::uint64_t evaluations = 0;
};

// Evaluations of a search without a budget.
inline constexpr std::uint64_t default_evaluations = 2'000'000;

// The best of what the chains find, of equals that of the first. `method` keys the random streams.
Result run_chains(const Request& request, std::uint64_t method, const std::function<ChainResult(Chain& chain)>& search);

}  // namespace emplace::serving
