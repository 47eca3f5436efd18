#include "only_consumers.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <utility>

namespace emplace {

namespace {

// The graph of units while they merge. Each unit's neighbours stand at its root as ops of theirs; lists of merged units
// are joined, and cleaned of repetitions where they are read.
class UnitGraph {
 public:
  UnitGraph(const Problem& problem, UnitMerger& units, double max_share)
      : units_(units), after_(problem.op_count()), work_(problem.op_count(), 0), mark_(problem.op_count(), 0) {
    double total = 0;
    for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
      Ticks fastest = cannot_run;
      for (std::size_t d = 0; d < problem.device_count(); ++d) {
        const Ticks time = problem.time(OpId{op}, DeviceId{d});
        if (time != cannot_run && (fastest == cannot_run || time < fastest)) fastest = time;
      }
      const std::uint32_t root = units.find(op);
      work_[root] += static_cast<double>(fastest);
      total += static_cast<double>(fastest);
      for (const std::uint32_t tensor : problem.outputs[op])
        for (const std::uint32_t consumer : problem.consumers[tensor]) after_[root].push_back(consumer);
    }
    most_work_ = max_share >= 1 ? total : max_share * total;
    visits_left_ = 1000 * (problem.op_count() + problem.edge_count());
  }

  // The roots of the other units that consume what this one puts out.
  const std::vector<std::uint32_t>& consumers(std::uint32_t root) {
    std::vector<std::uint32_t>& list = after_[root];
    ++now_;
    std::size_t kept = 0;
    for (const std::uint32_t op : list) {
      const std::uint32_t other = units_.find(op);
      if (other == root || mark_[other] == now_) continue;
      mark_[other] = now_;
      list[kept++] = other;
    }
    list.resize(kept);
    return list;
  }

  bool join(std::uint32_t a, std::uint32_t b) {
    a = units_.find(a);
    b = units_.find(b);
    if (a == b) return false;
    const double work = work_[a] + work_[b];
    if (work > most_work_ || !units_.compatible(a, b) || closes_circle(a, b)) return false;
    const std::uint32_t root = units_.merge(a, b);
    std::vector<std::uint32_t>& into = after_[root];
    std::vector<std::uint32_t>& from = after_[root == a ? b : a];
    if (into.size() < from.size()) std::swap(into, from);
    into.insert(into.end(), from.begin(), from.end());
    std::vector<std::uint32_t>().swap(from);
    work_[root] = work;
    return true;
  }

 private:
  // Is there a path from `from` to its consumer `to` through a third unit?
  bool closes_circle(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> waiting;
    for (const std::uint32_t other : consumers(from))
      if (other != to) waiting.push_back(other);
    if (waiting.empty()) return false;
    const std::uint64_t seen = ++now_;
    mark_[from] = seen;
    for (const std::uint32_t unit : waiting) mark_[unit] = seen;
    while (!waiting.empty()) {
      const std::uint32_t unit = waiting.back();
      waiting.pop_back();
      if (visits_left_ < after_[unit].size()) return true;
      visits_left_ -= after_[unit].size();
      for (const std::uint32_t op : after_[unit]) {
        const std::uint32_t other = units_.find(op);
        if (other == to) return true;
        if (mark_[other] == seen) continue;
        mark_[other] = seen;
        waiting.push_back(other);
      }
    }
    return false;
  }

  UnitMerger& units_;
  std::vector<std::vector<std::uint32_t>> after_;
  std::vector<double> work_;
  std::vector<std::uint64_t> mark_;
  std::uint64_t now_ = 0;
  double most_work_ = 0;
  std::size_t visits_left_ = 0;
};

constexpr std::uint32_t none = OpId::none_value;

std::uint32_t only_consumer(const Problem& problem, std::uint32_t op) {
  std::uint32_t only = none;
  for (const std::uint32_t tensor : problem.outputs[op])
    for (const std::uint32_t consumer : problem.consumers[tensor]) {
      if (only != none && only != consumer) return none;
      only = consumer;
    }
  return only;
}

}  // namespace

void merge_only_consumers(const Problem& problem, UnitMerger& units, bool repeat, double max_share) {
  UnitGraph graph(problem, units, max_share);
  if (!repeat) {
    for (const std::uint32_t op : problem.topological)
      if (const std::uint32_t consumer = only_consumer(problem, op); consumer != none) graph.join(op, consumer);
    return;
  }
  // Consumers first: without co-location groups one pass is enough, as a join changes only how many consumers the units
  // before it have. A refused join stays refused, as units only grow.
  std::vector<std::uint32_t> done(problem.op_count(), 0);  // by root: the last pass that looked at it
  std::uint32_t pass = 0;
  for (bool changed = true; changed;) {
    changed = false;
    ++pass;
    for (auto op = problem.topological.rbegin(); op != problem.topological.rend(); ++op) {
      const std::uint32_t root = units.find(*op);
      if (done[root] == pass) continue;
      done[root] = pass;
      const std::vector<std::uint32_t>& consumers = graph.consumers(root);
      if (consumers.size() == 1 && graph.join(root, consumers.front())) {
        changed = true;
        done[units.find(root)] = pass;
      }
    }
  }
}

std::vector<std::uint32_t> number_by_dependence(const Problem& problem, const UnitMerger& units) {
  const std::size_t ops = problem.op_count();
  std::vector<std::uint32_t> first(ops, none);  // by root: the smallest op
  for (std::uint32_t op = 0; op < ops; ++op)
    if (std::uint32_t& of_root = first[units.find(op)]; of_root == none) of_root = op;
  std::vector<std::vector<std::uint32_t>> members(ops);
  std::vector<std::size_t> waits(ops, 0);  // by root: consumed tensors of other units, once a consumer
  for (std::uint32_t op = 0; op < ops; ++op) {
    members[units.find(op)].push_back(op);
    for (const std::uint32_t tensor : problem.inputs[op])
      waits[units.find(op)] += units.find(problem.producer[tensor].value) != units.find(op);
  }

  using Ready = std::pair<std::uint32_t, std::uint32_t>;  // smallest op, root
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (std::uint32_t op = 0; op < ops; ++op)
    if (units.find(op) == op && waits[op] == 0) ready.emplace(first[op], op);
  std::vector<std::uint32_t> number(ops, none);
  std::uint32_t next = 0;
  const auto release = [&](std::uint32_t root) {
    number[root] = next++;
    for (const std::uint32_t op : members[root])
      for (const std::uint32_t tensor : problem.outputs[op])
        for (const std::uint32_t consumer : problem.consumers[tensor]) {
          const std::uint32_t other = units.find(consumer);
          if (other != root && --waits[other] == 0 && number[other] == none) ready.emplace(first[other], other);
        }
  };
  for (const std::uint32_t op : problem.topological) {
    while (!ready.empty()) {
      const std::uint32_t root = ready.top().second;
      ready.pop();
      release(root);
    }
    if (number[units.find(op)] == none) release(units.find(op));  // nothing is ready: a circle
  }
  std::vector<std::uint32_t> unit_of_op(ops);
  for (std::uint32_t op = 0; op < ops; ++op) unit_of_op[op] = number[units.find(op)];
  return unit_of_op;
}

}  // namespace emplace
