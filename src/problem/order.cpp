#include "problem/order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "emplace/base/error.hpp"

namespace emplace {

std::vector<Ticks> upward_ranks(const Problem& problem, std::span<const std::uint8_t> device) {
  EMPLACE_CHECK(device.size() == problem.op_count());
  std::vector<Ticks> rank(problem.op_count(), 0);
  for (auto at = problem.topological.rbegin(); at != problem.topological.rend(); ++at) {
    const std::uint32_t op = *at;
    const DeviceId from{std::size_t{device[op]}};
    Ticks longest = 0;
    for (const std::uint32_t tensor : problem.outputs[op])
      for (const std::uint32_t consumer : problem.consumers[tensor]) {
        const DeviceId to{std::size_t{device[consumer]}};
        const bool moves = from != to && problem.has_route(from, to);
        longest = std::max(longest, rank[consumer] + (moves ? problem.transfer(TensorId{tensor}, from, to) : 0));
      }
    rank[op] = longest + std::max<Ticks>(0, problem.time(OpId{op}, from));
  }
  return rank;
}

std::vector<std::uint32_t> positions_in(std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> position(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  return position;
}

std::vector<std::uint32_t> upward_rank_order(const Problem& problem, std::span<const std::uint8_t> device) {
  const std::vector<Ticks> rank = upward_ranks(problem, device);
  std::vector<std::uint32_t> order = problem.topological;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank[a] > rank[b]; });
  return order;
}

std::vector<std::uint32_t> level_order(const Problem& problem, std::span<const std::uint8_t> level) {
  return ranked_order(problem, std::vector<std::uint32_t>(level.begin(), level.end()));
}

std::vector<std::uint32_t> ranked_order(const Problem& problem, std::span<const std::uint32_t> rank) {
  const std::size_t ops = problem.op_count();
  EMPLACE_CHECK(rank.size() == ops);
  const std::vector<std::uint32_t> position = positions_in(problem.topological);
  std::vector<std::uint32_t> missing(ops);
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // rank, position
  std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
  for (std::uint32_t op = 0; op < ops; ++op)
    if (missing[op] = static_cast<std::uint32_t>(problem.inputs[op].size()); missing[op] == 0)
      ready.emplace(rank[op], position[op]);
  std::vector<std::uint32_t> order;
  order.reserve(ops);
  while (!ready.empty()) {
    const std::uint32_t op = problem.topological[ready.top().second];
    ready.pop();
    order.push_back(op);
    for (const std::uint32_t tensor : problem.outputs[op])
      for (const std::uint32_t consumer : problem.consumers[tensor])
        if (--missing[consumer] == 0) ready.emplace(rank[consumer], position[consumer]);
  }
  EMPLACE_CHECK(order.size() == ops);
  return order;
}

}  // namespace emplace
