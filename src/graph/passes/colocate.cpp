#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "graph/passes/neighbours.hpp"
#include "graph/passes/passes.hpp"
#include "graph/passes/union_find.hpp"
#include "graph/training/variables.hpp"

namespace emplace {

namespace {

void join_named_groups(const Graph& graph, UnionFind& sets) {
  std::unordered_map<std::string_view, std::uint32_t> first;
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i)
    if (!graph.ops[i].colocate.empty()) sets.join(first.try_emplace(graph.ops[i].colocate, i).first->second, i);
}

bool is_bound_to_its_variable(const GraphOp& op) {
  return op.phase == Phase::update || reads_variable(op) || op.type.starts_with("Assign") ||
         op.type.starts_with("Apply") || op.type.starts_with("SparseApply") || op.type.starts_with("ResourceApply");
}

void join_variables(const Graph& graph, UnionFind& sets) {
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
    const GraphOp& op = graph.ops[i];
    if (op.inputs.empty() || !op.inputs[0].is_tensor() || !is_bound_to_its_variable(op)) continue;
    const OpId producer = graph.tensors[op.inputs[0].index].producer;
    if (!producer.is_none() && is_variable(graph.ops[producer.index()])) sets.join(producer.value, i);
  }
}

void join_gradients(const Graph& graph, UnionFind& sets) {
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i)
    if (const GraphOp& op = graph.ops[i]; op.phase == Phase::backward && !op.forward_of.is_none())
      sets.join(op.forward_of.value, i);
}

void join_only_successors(const Graph& graph, UnionFind& sets) {
  const IdLists successors = reversed(predecessors_of(graph));
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i)
    if (successors[i].size() == 1) sets.join(i, successors[i].front());
}

// Joins sets with their only successor set until no set has exactly one successor. Each join renames the one of both
// sets that has fewer neighbours in the lists of these neighbours: O(E log E) renamings in all.
class SetContractor {
 public:
  SetContractor(const Graph& graph, UnionFind& sets)
      : sets_(sets), before_(graph.ops.size()), after_(graph.ops.size()), gone_(graph.ops.size(), 0) {
    const IdLists predecessors = predecessors_of(graph);
    for (std::uint32_t op = 0; op < graph.ops.size(); ++op)
      for (const std::uint32_t other : predecessors[op]) {
        const std::uint32_t from = sets.find(other), to = sets.find(op);
        if (from == to) continue;
        before_[to].insert(from);
        after_[from].insert(to);
      }
    for (std::uint32_t op = 0; op < graph.ops.size(); ++op)
      if (sets.find(op) == op && after_[op].size() == 1) waiting_.push_back(op);
  }

  void run() {
    while (!waiting_.empty()) {
      const std::uint32_t set = waiting_.back();
      waiting_.pop_back();
      if (!gone_[set] && after_[set].size() == 1) join(set, *after_[set].begin());
    }
  }

 private:
  // A set is named by one of its ops, which need not be the root of the union-find.
  void join(std::uint32_t a, std::uint32_t b) {
    sets_.join(a, b);
    if (before_[a].size() + after_[a].size() > before_[b].size() + after_[b].size()) std::swap(a, b);
    gone_[a] = 1;
    before_[b].erase(a);
    after_[b].erase(a);
    before_[a].erase(b);
    after_[a].erase(b);
    for (const std::uint32_t other : before_[a]) {
      after_[other].erase(a);
      after_[other].insert(b);
      before_[b].insert(other);
      if (after_[other].size() == 1) waiting_.push_back(other);
    }
    for (const std::uint32_t other : after_[a]) {
      before_[other].erase(a);
      before_[other].insert(b);
      after_[b].insert(other);
    }
    before_[a].clear();
    after_[a].clear();
    if (after_[b].size() == 1) waiting_.push_back(b);
  }

  using Names = std::unordered_set<std::uint32_t>;
  UnionFind& sets_;
  std::vector<Names> before_, after_;
  std::vector<char> gone_;
  std::vector<std::uint32_t> waiting_;
};

}  // namespace

PassResult colocate(const Graph& graph, const ColocateOptions& options) {
  UnionFind sets(graph.ops.size());
  join_named_groups(graph, sets);
  for (const std::vector<OpId>& ops : options.together)
    for (const OpId op : ops) sets.join(ops.front().value, op.value);
  if (options.variables) join_variables(graph, sets);
  if (options.gradients) join_gradients(graph, sets);
  if (options.recursion == ColocateOptions::Recursion::op) join_only_successors(graph, sets);
  if (options.recursion == ColocateOptions::Recursion::group) SetContractor(graph, sets).run();

  PassResult result{graph, {}};
  std::unordered_set<std::string> taken;
  std::vector<std::string> group(graph.ops.size());  // by root
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
    result.became.emplace_back(i);
    const std::string& name = graph.ops[i].colocate;
    if (name.empty()) continue;
    taken.insert(name);
    if (std::string& of_root = group[sets.find(i)]; of_root.empty()) of_root = name;
  }
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
    std::string& of_root = group[sets.find(i)];
    if (of_root.empty() && sets.size(i) > 1) {
      of_root = "coloc/" + graph.ops[i].name;
      while (!taken.insert(of_root).second) of_root += '_';
    }
    result.graph.ops[i].colocate = of_root;
  }
  return result;
}

}  // namespace emplace
