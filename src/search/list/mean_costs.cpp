#include "search/list/mean_costs.hpp"

#include <algorithm>

namespace emplace::search {

MeanCosts::MeanCosts(const Problem& problem) {
  const std::size_t devices = problem.device_count();
  for (std::size_t i = 0; i < problem.op_count(); ++i) {
    double sum = 0;
    std::size_t able = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      if (problem.op_time[i * devices + d] == cannot_run) continue;
      sum += static_cast<double>(problem.op_time[i * devices + d]);
      ++able;
    }
    op.push_back(sum / static_cast<double>(able));
  }
  const std::size_t classes = problem.route_classes.size();
  std::vector<double> weight(classes, 0);
  double pairs = 0;
  for (const std::int32_t cls : problem.route_class) {
    if (cls < 0) continue;
    ++weight[static_cast<std::size_t>(cls)];
    ++pairs;
  }
  for (std::size_t t = 0; t < problem.tensor_count(); ++t) {
    double sum = 0;
    for (std::size_t cls = 0; cls < classes; ++cls)
      sum += weight[cls] * static_cast<double>(problem.transfer_time[t * classes + cls]);
    transfer.push_back(pairs > 0 ? sum / pairs : 0);
  }
}

std::vector<double> upward_ranks(const Problem& problem, const MeanCosts& costs) {
  std::vector<double> rank(problem.op_count(), 0);
  for (auto op = problem.topological.rbegin(); op != problem.topological.rend(); ++op) {
    for (const std::uint32_t tensor : problem.outputs[*op])
      for (const std::uint32_t consumer : problem.consumers[tensor])
        rank[*op] = std::max(rank[*op], costs.transfer[tensor] + rank[consumer]);
    rank[*op] += costs.op[*op];
  }
  return rank;
}

std::vector<double> downward_ranks(const Problem& problem, const MeanCosts& costs) {
  std::vector<double> rank(problem.op_count(), 0);
  for (const std::uint32_t op : problem.topological)
    for (const std::uint32_t tensor : problem.outputs[op])
      for (const std::uint32_t consumer : problem.consumers[tensor])
        rank[consumer] = std::max(rank[consumer], rank[op] + costs.op[op] + costs.transfer[tensor]);
  return rank;
}

std::vector<std::uint32_t> order_by_decreasing(const Problem& problem, const std::vector<double>& value) {
  std::vector<std::uint32_t> order = problem.topological;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return value[a] > value[b]; });
  return order;
}

}  // namespace emplace::search
