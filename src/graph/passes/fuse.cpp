#include <algorithm>

#include "base/text.hpp"
#include "graph/ops/op_row.hpp"
#include "graph/ops/op_rules.hpp"
#include "graph/passes/neighbours.hpp"
#include "graph/passes/partition.hpp"

namespace emplace {

namespace {

enum class Kind : std::uint8_t { other, elementwise, anchor };

Kind kind_of(const GraphOp& op) {
  const OpRow* row = find_row(op.type);
  if (row == nullptr || op.outputs.size() != 1) return Kind::other;
  if (row->cls == OpClass::elementwise && row->traffic == &all_operands) return Kind::elementwise;
  // With the statistics of the batch, the result must be read once before it can be normalised, so it cannot be fused.
  if (op.type == "BatchNormalization") {
    const auto mode = op.attributes.find("training_mode");
    const bool fixed = mode == op.attributes.end() || mode->second == Attribute{std::int64_t{0}};
    return fixed ? Kind::elementwise : Kind::other;
  }
  return row->cls == OpClass::matmul || row->cls == OpClass::convolution ? Kind::anchor : Kind::other;
}

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : graph_(graph),
        predecessors_(predecessors_of(graph)),
        sets_(graph.ops.size()),
        anchor_(graph.ops.size()),
        tied_(graph.ops.size()),
        kind_(graph.ops.size()) {
    const IdLists successors = reversed(predecessors_);
    only_successor_.resize(graph.ops.size());
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      kind_[i] = kind_of(graph.ops[i]);
      if (kind_[i] == Kind::anchor) anchor_[i] = OpId{i};
      if (successors[i].size() == 1) only_successor_[i] = OpId{successors[i].front()};
    }
  }

  PassResult run() {
    const std::vector<OpId> order = graph_.topological_order();
    std::vector<std::uint32_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i].index()] = static_cast<std::uint32_t>(i);
    std::vector<std::uint32_t> producers;
    for (const OpId op : order) {
      if (kind_[op.index()] != Kind::elementwise) continue;
      const auto before = predecessors_[op.index()];
      producers.assign(before.begin(), before.end());
      std::sort(producers.begin(), producers.end(), [&](auto a, auto b) { return position[a] > position[b]; });
      for (const std::uint32_t producer : producers)
        if (fits(OpId{producer}, op)) join(producer, op.value);
    }
    Partition partition = partition_of(sets_, graph_.ops.size());
    partition.fused = true;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (partition.part_of[i] == Partition::alone || kind_[i] != Kind::anchor) continue;
      Part& part = partition.parts[partition.part_of[i]];
      part.name = graph_.ops[i].name;
      part.cls = cost_of(graph_, OpId{i}).cls;
    }
    return merge_ops(graph_, partition);
  }

 private:
  [[nodiscard]] bool fits(OpId producer, OpId op) const {
    const GraphOp &from = graph_.ops[producer.index()], &to = graph_.ops[op.index()];
    if (kind_[producer.index()] == Kind::other || only_successor_[producer.index()] != op) return false;
    const TensorId between = from.outputs.front();
    if (std::find(to.inputs.begin(), to.inputs.end(), Operand::of(between)) == to.inputs.end()) return false;
    const Shape& shape = graph_.tensors[between.index()].shape;
    if (!shape.is_static() || shape != graph_.tensors[to.outputs.front().index()].shape) return false;
    if (from.phase != to.phase) return false;
    const std::uint32_t a = sets_.find(producer.value), b = sets_.find(op.value);
    if (!anchor_[a].is_none() && !anchor_[b].is_none()) return false;
    const std::string &group = colocation(a), &other = colocation(b);
    return group.empty() || other.empty() || group == other;
  }

  // The co-location group of a set; "" if none of its members has one.
  [[nodiscard]] const std::string& colocation(std::uint32_t root) const {
    return graph_.ops[tied_[root].is_none() ? root : tied_[root].index()].colocate;
  }

  void join(std::uint32_t producer, std::uint32_t op) {
    const std::uint32_t a = sets_.find(producer), b = sets_.find(op);
    const OpId anchor = anchor_[a].is_none() ? anchor_[b] : anchor_[a];
    OpId tied;
    for (const std::uint32_t root : {a, b})
      if (!colocation(root).empty()) tied = tied_[root].is_none() ? OpId{root} : tied_[root];
    const std::uint32_t root = sets_.join(a, b);
    anchor_[root] = anchor;
    tied_[root] = tied;
  }

  const Graph& graph_;
  IdLists predecessors_;
  UnionFind sets_;
  std::vector<OpId> anchor_;  // by root: the matrix product or convolution in the set
  std::vector<OpId> tied_;    // by root: a member with a co-location group
  std::vector<Kind> kind_;
  std::vector<OpId> only_successor_;
};

}  // namespace

PassResult fuse(const Graph& graph) { return Fuser(graph).run(); }

}  // namespace emplace
