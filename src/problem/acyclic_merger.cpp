#include "problem/acyclic_merger.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace emplace {

namespace {

constexpr std::size_t no_position = std::numeric_limits<std::size_t>::max();

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Removes nodes without incoming edges until there are none, and clears their flags in `stays`.
void peel(const Edges& edges, std::vector<char>& stays) {
  std::vector<std::uint32_t> incoming(stays.size(), 0);
  std::vector<std::vector<std::uint32_t>> after(stays.size());
  for (const auto& [from, to] : edges) {
    ++incoming[to];
    after[from].push_back(to);
  }
  std::vector<std::uint32_t> free;
  for (std::uint32_t node = 0; node < stays.size(); ++node)
    if (incoming[node] == 0) free.push_back(node);
  while (!free.empty()) {
    const std::uint32_t node = free.back();
    free.pop_back();
    stays[node] = 0;
    for (const std::uint32_t next : after[node])
      if (--incoming[next] == 0) free.push_back(next);
  }
}

// Indexed by root: 1 if the unit may be on a cycle, which includes units on a path from one cycle to another.
std::vector<char> on_cycles(const Problem& problem, const UnitMerger& units) {
  Edges there, back;
  for (std::uint32_t tensor = 0; tensor < problem.tensor_count(); ++tensor)
    for (const std::uint32_t consumer : problem.consumers[tensor]) {
      const std::uint32_t from = units.find(problem.producer[tensor].value), to = units.find(consumer);
      if (from == to) continue;
      there.emplace_back(from, to);
      back.emplace_back(to, from);
    }
  std::vector<char> before(problem.op_count(), 1), after(problem.op_count(), 1);
  peel(there, before);
  peel(back, after);
  for (std::size_t unit = 0; unit < before.size(); ++unit) before[unit] = before[unit] & after[unit];
  return before;
}

}  // namespace

AcyclicMerger::AcyclicMerger(const Problem& problem, UnitMerger& units)
    : units_(units),
      after_(problem.op_count()),
      work_(problem.op_count(), 0),
      mark_(problem.op_count(), 0),
      visits_left_(1000 * (problem.op_count() + problem.edge_count())) {
  std::vector<std::size_t> first(problem.op_count(), no_position);  // indexed by root: position of its first op
  for (std::size_t position = 0; position < problem.topological.size(); ++position) {
    std::size_t& of_root = first[units.find(problem.topological[position])];
    of_root = std::min(of_root, position);
  }
  const std::vector<char> on_cycle = on_cycles(problem, units);
  for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
    Ticks fastest = cannot_run;
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      const Ticks time = problem.time(OpId{op}, DeviceId{d});
      if (time != cannot_run && (fastest == cannot_run || time < fastest)) fastest = time;
    }
    const std::uint32_t root = units.find(op);
    work_[root] += static_cast<double>(fastest);
    total_work_ += static_cast<double>(fastest);
    for (const std::uint32_t tensor : problem.outputs[op])
      for (const std::uint32_t consumer : problem.consumers[tensor]) {
        const std::uint32_t other = units.find(consumer);
        if (first[other] > first[root] || !(on_cycle[root] && on_cycle[other])) after_[root].push_back(consumer);
      }
  }
}

const std::vector<std::uint32_t>& AcyclicMerger::consumers(std::uint32_t root) {
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

bool AcyclicMerger::join(std::uint32_t a, std::uint32_t b, double most_work) {
  a = units_.find(a);
  b = units_.find(b);
  if (a == b) return false;
  const double work = work_[a] + work_[b];
  if (work > most_work || !units_.compatible(a, b) || closes_cycle(a, b)) return false;
  const std::uint32_t root = units_.merge(a, b);
  std::vector<std::uint32_t>& into = after_[root];
  std::vector<std::uint32_t>& from = after_[root == a ? b : a];
  if (into.size() < from.size()) std::swap(into, from);
  into.insert(into.end(), from.begin(), from.end());
  std::vector<std::uint32_t>().swap(from);
  work_[root] = work;
  return true;
}

bool AcyclicMerger::closes_cycle(std::uint32_t a, std::uint32_t b) {
  return has_path_around(a, b) || has_path_around(b, a);
}

bool AcyclicMerger::has_path_around(std::uint32_t from, std::uint32_t to) {
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

}  // namespace emplace
