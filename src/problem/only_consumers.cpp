#include "problem/only_consumers.hpp"

#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace emplace {

namespace {

std::uint32_t only_consumer(const Problem& problem, std::uint32_t op) {
  std::uint32_t only = OpId::none_value;
  for (const std::uint32_t tensor : problem.outputs[op])
    for (const std::uint32_t consumer : problem.consumers[tensor]) {
      if (only != OpId::none_value && only != consumer) return OpId::none_value;
      only = consumer;
    }
  return only;
}

}  // namespace

void merge_only_consumers(const Problem& problem, AcyclicMerger& graph, const UnitMerger& units,
                          const OnlyConsumers& options) {
  // With a share of 1 nothing must be refused because of a rounding error.
  const double most_work =
      options.max_share >= 1 ? std::numeric_limits<double>::infinity() : options.max_share * graph.total_work();
  if (!options.repeat) {
    for (const std::uint32_t op : problem.topological) {
      if (!options.block.empty() && !options.block[op].empty()) continue;
      if (const std::uint32_t consumer = only_consumer(problem, op); consumer != OpId::none_value)
        graph.join(op, consumer, most_work);
    }
    return;
  }
  // Consumers come first: without co-location groups one pass is then enough, because a join only changes the number of
  // consumers of the units before it. A join that was refused would be refused again, because units only grow.
  std::vector<std::uint32_t> done(problem.op_count(), 0);  // indexed by root: the last pass that looked at it
  std::uint32_t pass = 0;
  for (bool changed = true; changed;) {
    changed = false;
    ++pass;
    for (auto op = problem.topological.rbegin(); op != problem.topological.rend(); ++op) {
      const std::uint32_t root = units.find(*op);
      if (done[root] == pass) continue;
      done[root] = pass;
      const std::vector<std::uint32_t>& consumers = graph.consumers(root);
      if (consumers.size() == 1 && graph.join(root, consumers.front(), most_work)) {
        changed = true;
        done[units.find(root)] = pass;
      }
    }
  }
}

std::vector<std::uint32_t> number_by_dependence(const Problem& problem, const UnitMerger& units) {
  const std::size_t ops = problem.op_count();
  std::vector<std::uint32_t> first(ops, OpId::none_value);  // indexed by root: the smallest op
  for (std::uint32_t op = 0; op < ops; ++op)
    if (std::uint32_t& of_root = first[units.find(op)]; of_root == OpId::none_value) of_root = op;
  std::vector<std::vector<std::uint32_t>> members(ops);
  std::vector<std::size_t> waits(ops, 0);  // indexed by root: inputs from other units not yet numbered
  for (std::uint32_t op = 0; op < ops; ++op) {
    members[units.find(op)].push_back(op);
    for (const std::uint32_t tensor : problem.inputs[op])
      waits[units.find(op)] += units.find(problem.producer[tensor].value) != units.find(op);
  }

  using Ready = std::pair<std::uint32_t, std::uint32_t>;  // smallest op, root
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (std::uint32_t op = 0; op < ops; ++op)
    if (units.find(op) == op && waits[op] == 0) ready.emplace(first[op], op);
  std::vector<std::uint32_t> number(ops, OpId::none_value);
  std::uint32_t next = 0;
  const auto release = [&](std::uint32_t root) {
    number[root] = next++;
    for (const std::uint32_t op : members[root])
      for (const std::uint32_t tensor : problem.outputs[op])
        for (const std::uint32_t consumer : problem.consumers[tensor]) {
          const std::uint32_t other = units.find(consumer);
          if (other != root && --waits[other] == 0 && number[other] == OpId::none_value)
            ready.emplace(first[other], other);
        }
  };
  for (const std::uint32_t op : problem.topological) {
    while (!ready.empty()) {
      const std::uint32_t root = ready.top().second;
      ready.pop();
      release(root);
    }
    if (number[units.find(op)] == OpId::none_value) release(units.find(op));  // nothing is ready: a cycle
  }
  std::vector<std::uint32_t> unit_of_op(ops);
  for (std::uint32_t op = 0; op < ops; ++op) unit_of_op[op] = number[units.find(op)];
  return unit_of_op;
}

}  // namespace emplace
