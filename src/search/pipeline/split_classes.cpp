#include "search/pipeline/split_classes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/biconnected.hpp"
#include "base/components.hpp"
#include "emplace/problem/grouping.hpp"

namespace emplace::search {

namespace {

using OpPair = std::pair<std::uint32_t, std::uint32_t>;
constexpr std::uint32_t no_class = std::numeric_limits<std::uint32_t>::max();

void sort_and_thin(std::vector<OpPair>& edges) {
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

Lists lists_of(std::vector<OpPair> edges, std::size_t rows) {
  sort_and_thin(edges);
  Lists lists;
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (; next < edges.size() && edges[next].first == row; ++next) lists.items.push_back(edges[next].second);
    lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  }
  return lists;
}

std::vector<OpPair> reversed(std::vector<OpPair> edges) {
  for (OpPair& edge : edges) std::swap(edge.first, edge.second);
  return edges;
}

template <class Visit>
void each_edge(const Problem& p, Visit&& visit) {
  for (std::uint32_t tensor = 0; tensor < p.tensor_count(); ++tensor)
    for (const std::uint32_t consumer : p.consumers[tensor]) visit(p.producer[tensor].value, consumer);
}

// Steps 1 and 2: edges between different classes.
std::vector<OpPair> class_edges(const Problem& p, const std::vector<std::uint32_t>& of_op, std::size_t count) {
  std::vector<char> has_forward(count, 0);
  for (std::size_t op = 0; op < p.op_count(); ++op)
    if (!p.is_backward(OpId{op})) has_forward[of_op[op]] = 1;
  std::vector<OpPair> edges;
  each_edge(p, [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t a = of_op[from], b = of_op[to];
    if (a == b) return;
    const bool from_backward = p.is_backward(OpId{from}), to_backward = p.is_backward(OpId{to});
    if (!from_backward && !to_backward) edges.emplace_back(a, b);
    if (from_backward && to_backward && !(has_forward[a] && has_forward[b])) edges.emplace_back(b, a);
  });
  sort_and_thin(edges);
  return edges;
}

// Step 4, on classes without cycles between them. Neighbours in both phases count, so that no merge adds the transfer
// of a tensor that was not counted before.
class IdleMerger {
 public:
  IdleMerger(const Problem& p, std::vector<std::uint32_t>& of_op, std::size_t count)
      : p_(p),
        of_op_(of_op),
        neighbours_(count),
        runs_(count * p.device_count(), 1),
        idle_(count, 1),
        bytes_(count, 0),
        target_(count) {
    each_edge(p, [&](std::uint32_t from, std::uint32_t to) {
      if (of_op[from] == of_op[to]) return;
      neighbours_[of_op[from]].insert(of_op[to]);
      neighbours_[of_op[to]].insert(of_op[from]);
    });
    Bytes all = 0, least = no_memory_limit;
    for (const Device& device : p.devices) least = std::min(least, device.memory);
    for (std::size_t op = 0; op < p.op_count(); ++op) {
      const std::uint32_t c = of_op[op];
      all += p.resident[op];
      bytes_[c] += p.resident[op];
      for (std::size_t d = 0; d < p.device_count(); ++d) {
        if (!p.can_run(OpId{op}, DeviceId{d})) runs_[c * p.device_count() + d] = 0;
        if (p.zero_cost[op * p.device_count() + d] == 0) idle_[c] = 0;
      }
    }
    fits_anywhere_ = all <= least;
    for (std::uint32_t c = 0; c < count; ++c) target_[c] = c;
  }

  void run() {
    std::vector<std::uint32_t> open;
    for (std::uint32_t c = 0; c < neighbours_.size(); ++c) open.push_back(c);
    while (!open.empty()) {
      const std::uint32_t c = open.back();
      open.pop_back();
      if (!joins_its_neighbour(c)) continue;
      const std::uint32_t neighbour = *neighbours_[c].begin();
      target_[c] = neighbour;
      neighbours_[c].clear();
      neighbours_[neighbour].erase(c);
      bytes_[neighbour] += bytes_[c];
      open.push_back(neighbour);
    }
    for (std::uint32_t& c : of_op_)
      while (target_[c] != c) c = target_[c];
  }

 private:
  [[nodiscard]] bool joins_its_neighbour(std::uint32_t c) const {
    if (target_[c] != c || !idle_[c] || neighbours_[c].size() != 1) return false;
    if (bytes_[c] > 0 && !fits_anywhere_) return false;
    const std::uint32_t neighbour = *neighbours_[c].begin();
    for (std::size_t d = 0; d < p_.device_count(); ++d)
      if (runs_[neighbour * p_.device_count() + d] && !runs_[c * p_.device_count() + d]) return false;
    return true;
  }

  const Problem& p_;
  std::vector<std::uint32_t>& of_op_;
  std::vector<std::set<std::uint32_t>> neighbours_;
  std::vector<char> runs_, idle_;
  std::vector<Bytes> bytes_;
  std::vector<std::uint32_t> target_;
  bool fits_anywhere_ = false;
};

// Numbers the classes, whose numbers are below that of ops, 0, 1, ... by first op in topological order; returns their
// count.
std::size_t renumber(const Problem& p, std::vector<std::uint32_t>& of_op) {
  std::vector<std::uint32_t> number(p.op_count(), no_class);
  std::uint32_t count = 0;
  for (const std::uint32_t op : p.topological)
    if (number[of_op[op]] == no_class) number[of_op[op]] = count++;
  for (std::uint32_t& c : of_op) c = number[c];
  return count;
}

}  // namespace

SplitClasses split_classes(const Problem& problem, bool merge_idle) {
  return split_classes(problem, make_grouping(problem, GroupingKind::colocation).unit_of_op, merge_idle);
}

SplitClasses split_classes(const Problem& problem, std::vector<std::uint32_t> of_op, bool merge_idle) {
  SplitClasses classes;
  classes.of_op = std::move(of_op);
  std::size_t count = renumber(problem, classes.of_op);
  const Lists first_edges = lists_of(class_edges(problem, classes.of_op, count), count);
  const auto component = strong_components(first_edges.begin, first_edges.items);
  for (std::uint32_t& c : classes.of_op) c = component[c];
  count = renumber(problem, classes.of_op);
  if (merge_idle) {
    IdleMerger(problem, classes.of_op, count).run();
    count = renumber(problem, classes.of_op);
  }
  const std::vector<OpPair> edges = class_edges(problem, classes.of_op, count);
  classes.after = lists_of(edges, count);
  classes.before = lists_of(reversed(edges), count);
  std::vector<OpPair> members;
  for (std::uint32_t op = 0; op < problem.op_count(); ++op) members.emplace_back(classes.of_op[op], op);
  classes.members = lists_of(std::move(members), count);
  return classes;
}

SplitClasses block_classes(const Problem& problem, const std::vector<OpId>& ignored, bool merge_idle) {
  std::vector<std::uint32_t> of_op = make_grouping(problem, GroupingKind::colocation).unit_of_op;
  // Super-node 2c has the forward ops of class c, 2c + 1 its backward ops.
  const auto node = [&](std::size_t op) {
    return 2 * of_op[op] + static_cast<std::uint32_t>(problem.is_backward(OpId{op}));
  };
  std::vector<char> is_ignored(problem.op_count(), 0);  // by class
  for (const OpId op : ignored) is_ignored[of_op[op.index()]] = 1;
  std::vector<OpPair> directed, undirected;
  each_edge(problem, [&](std::uint32_t from, std::uint32_t to) {
    if (node(from) == node(to) || is_ignored[of_op[from]] != 0) return;
    directed.emplace_back(node(from), node(to));
    undirected.push_back(std::minmax(node(from), node(to)));
  });
  sort_and_thin(directed);
  sort_and_thin(undirected);
  const auto component = biconnected_components(2 * problem.op_count(), undirected);
  std::vector<std::uint32_t> merged(problem.op_count()), first_tail(undirected.size(), no_class);
  std::iota(merged.begin(), merged.end(), 0U);
  const auto root = [&](std::uint32_t c) {
    while (merged[c] != c) c = merged[c] = merged[merged[c]];
    return c;
  };
  for (const auto& [from, to] : directed) {
    const OpPair ends = std::minmax(from, to);
    const auto edge = std::ranges::lower_bound(undirected, ends) - undirected.begin();
    std::uint32_t& tail = first_tail[component[static_cast<std::size_t>(edge)]];
    if (tail == no_class)
      tail = from / 2;
    else
      merged[root(from / 2)] = root(tail);
  }
  for (std::uint32_t& c : of_op) c = root(c);
  return split_classes(problem, std::move(of_op), merge_idle);
}

std::vector<std::uint32_t> depth_first_order(const SplitClasses& classes) {
  std::vector<std::size_t> missing(classes.count());
  std::vector<std::uint32_t> stack, order;
  const auto push = [&](std::vector<std::uint32_t> ready) {
    stack.insert(stack.end(), ready.rbegin(), ready.rend());  // in reverse, so that the smallest is on top
  };
  std::vector<std::uint32_t> ready;
  for (std::uint32_t c = 0; c < classes.count(); ++c)
    if ((missing[c] = classes.before[c].size()) == 0) ready.push_back(c);
  push(ready);
  while (!stack.empty()) {
    const std::uint32_t c = stack.back();
    stack.pop_back();
    order.push_back(c);
    ready.clear();
    for (const std::uint32_t next : classes.after[c])
      if (--missing[next] == 0) ready.push_back(next);
    push(ready);
  }
  return order;
}

}  // namespace emplace::search
