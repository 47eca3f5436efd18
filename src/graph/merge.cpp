#include "emplace/graph/merge.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "emplace/base/error.hpp"
#include "neighbours.hpp"
#include "op_row.hpp"
#include "op_rules.hpp"
#include "union_find.hpp"

namespace emplace {

namespace {

// What an op that stays would cost depends on its forward op, which is about to become something larger.
bool is_costed_by_its_forward_op(const GraphOp& op) {
  if (op.forward_of.is_none()) return false;
  const OpRow* row = find_row(op.type);
  return row == nullptr ? op.phase == Phase::backward : row->flops == &twice_forward;
}

template <class List, class Less>
void sort_and_keep_once(List& list, Less less) {
  std::sort(list.begin(), list.end(), less);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// Groups are the parts, then one group for each op that stays.
class Merger {
 public:
  Merger(const Graph& graph, const Partition& partition) : old_(graph), partition_(partition) {}

  PassResult run() {
    form_groups();
    merge_parameters();
    join_colocation_groups();
    name_groups();
    result_.graph.name = old_.name;
    result_.became.resize(old_.ops.size());
    for (const Buffer& buffer : buffers_)
      result_.graph.add_parameter(buffer.first->name, buffer.first->dtype, buffer.shape, buffer.first->trainable);
    tensor_now_.resize(old_.tensors.size());
    for (std::size_t i = 0; i < old_.tensors.size(); ++i)
      if (const GraphTensor& tensor = old_.tensors[i]; tensor.producer.is_none())
        tensor_now_[i] = Operand::of(result_.graph.add_input(tensor.name, tensor.dtype, tensor.shape));
    for (const std::uint32_t group : order())
      if (!members_[group].empty()) add(group);
    link_to_forward_ops();
    return std::move(result_);
  }

 private:
  void form_groups() {
    EMPLACE_CHECK(partition_.part_of.size() == old_.ops.size(), "{} parts for {} ops", partition_.part_of.size(),
                  old_.ops.size());
    group_of_ = partition_.part_of;
    auto groups = static_cast<std::uint32_t>(partition_.parts.size());
    stated_.assign(groups, 1);
    for (std::size_t i = 0; i < old_.ops.size(); ++i) {
      if (group_of_[i] != Partition::alone) continue;
      group_of_[i] = groups++;
      const GraphOp& op = old_.ops[i];
      stated_.push_back(is_costed_by_its_forward_op(op) &&
                        partition_.part_of[op.forward_of.index()] != Partition::alone);
    }
    members_ = members_of(group_of_, groups);
    groups_ = groups;
  }

  // The weights of one merged op are one buffer.
  void merge_parameters() {
    using Signature = std::pair<std::vector<std::uint32_t>, std::pair<bool, DType>>;
    std::map<Signature, std::uint32_t> known;
    for (const GraphParameter& parameter : old_.parameters) {
      Signature users{{}, {parameter.trainable, parameter.dtype}};
      for (const OpId user : parameter.users) users.first.push_back(group_of_[user.index()]);
      sort_and_keep_once(users.first, std::less<>());
      const bool all_merged = std::all_of(users.first.begin(), users.first.end(), [&](auto g) { return stated_[g]; });
      auto buffer = static_cast<std::uint32_t>(buffers_.size());
      if (all_merged && !users.first.empty() && parameter.bytes())
        buffer = known.try_emplace(std::move(users), buffer).first->second;
      if (buffer == buffers_.size()) {
        buffers_.push_back({&parameter, parameter.shape});
      } else {
        Shape& shape = buffers_[buffer].shape;
        shape = {add_bytes(*shape.elements(), *parameter.shape.elements())};
      }
      buffer_of_.push_back(buffer);
    }
  }

  // Ops that are one now tie the groups of all together.
  void join_colocation_groups() {
    std::unordered_map<std::string_view, std::uint32_t> number;
    std::vector<std::uint32_t> of_op(old_.ops.size(), Partition::alone);
    for (std::size_t i = 0; i < old_.ops.size(); ++i) {
      if (old_.ops[i].colocate.empty()) continue;
      const auto fresh = static_cast<std::uint32_t>(colocation_names_.size());
      of_op[i] = number.try_emplace(old_.ops[i].colocate, fresh).first->second;
      if (of_op[i] == fresh) colocation_names_.push_back(old_.ops[i].colocate);
    }
    UnionFind joined(colocation_names_.size());
    colocation_.assign(groups_, Partition::alone);
    for (std::size_t i = 0; i < old_.ops.size(); ++i) {
      if (of_op[i] == Partition::alone) continue;
      std::uint32_t& group = colocation_[group_of_[i]];
      group = group == Partition::alone ? of_op[i] : joined.join(group, of_op[i]);
    }
    for (std::uint32_t& group : colocation_)
      if (group != Partition::alone) group = joined.first(group);
  }

  void name_groups() {
    names_.resize(groups_);
    std::unordered_set<std::string> taken;
    const auto is_named = [&](std::uint32_t g) {
      return g < partition_.parts.size() && !partition_.parts[g].name.empty();
    };
    for (std::uint32_t g = 0; g < groups_; ++g) {
      if (members_[g].empty() || is_named(g)) continue;
      names_[g] = old_.ops[heaviest(g)].name;
      taken.insert(names_[g]);
    }
    std::unordered_map<std::string, std::size_t> copies;
    for (std::uint32_t g = 0; g < groups_; ++g) {
      if (members_[g].empty() || !is_named(g)) continue;
      const std::string& wanted = partition_.parts[g].name;
      std::size_t& copy = copies[wanted];
      do names_[g] = ++copy == 1 ? wanted : fmt::format("{}#{}", wanted, copy);
      while (!taken.insert(names_[g]).second);
    }
  }

  [[nodiscard]] std::uint32_t heaviest(std::uint32_t group) const {
    std::uint32_t best = members_[group].front();
    if (members_[group].size() == 1) return best;
    OpCost most = cost_of(old_, OpId{best});
    for (const std::uint32_t member : members_[group].subspan(1)) {
      const OpCost cost = cost_of(old_, OpId{member});
      const auto size = [](const OpCost& c) {
        return std::pair(c.flops, static_cast<double>(c.bytes_read) + static_cast<double>(c.bytes_written));
      };
      if (size(cost) <= size(most)) continue;
      best = member;
      most = cost;
    }
    return best;
  }

  // Groups in topological order, that of the smallest member first.
  [[nodiscard]] std::vector<std::uint32_t> order() const {
    const IdLists before = contracted(predecessors_of(old_), group_of_, groups_), after = reversed(before);
    using Ready = std::pair<std::uint32_t, std::uint32_t>;  // smallest member, group
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    const auto push = [&](std::uint32_t g) { ready.push({members_[g].empty() ? 0 : members_[g].front(), g}); };
    std::vector<std::uint32_t> waits(groups_), sorted;
    for (std::uint32_t g = 0; g < groups_; ++g) {
      waits[g] = static_cast<std::uint32_t>(before[g].size());
      if (waits[g] == 0) push(g);
    }
    while (!ready.empty()) {
      const std::uint32_t group = ready.top().second;
      ready.pop();
      sorted.push_back(group);
      for (const std::uint32_t next : after[group])
        if (--waits[next] == 0) push(next);
    }
    for (std::uint32_t g = 0; g < groups_; ++g)
      EMPLACE_CHECK(waits[g] == 0, "a path leaves part {} of {} and comes back", names_[g], old_.name);
    return sorted;
  }

  void add(std::uint32_t group) {
    GraphOp op = stated_[group] ? merged(group) : copied(group);
    op.name = std::move(names_[group]);
    op.colocate = colocation_[group] == Partition::alone ? "" : colocation_names_[colocation_[group]];
    const OpId id = result_.graph.add_op(std::move(op));
    for (const std::uint32_t member : members_[group]) result_.became[member] = id;
    for (const std::uint32_t member : members_[group]) add_outputs(id, group, old_.ops[member]);
  }

  [[nodiscard]] GraphOp copied(std::uint32_t group) const {
    GraphOp op = old_.ops[members_[group].front()];
    op.outputs.clear();
    for (Operand& input : op.inputs) {
      if (input.is_parameter()) input = Operand::of(ParameterId{buffer_of_[input.index]});
      if (input.is_tensor()) input = tensor_now_[input.index];
    }
    for (OpId& before : op.after) before = result_.became[before.index()];
    sort_and_keep_once(op.after, std::less<>());
    return op;
  }

  [[nodiscard]] GraphOp merged(std::uint32_t group) const {
    GraphOp op;
    std::map<std::string_view, std::uint32_t> types;
    bool any_forward = false, all_update = true;
    for (const std::uint32_t member : members_[group]) {
      const GraphOp& was = old_.ops[member];
      any_forward = any_forward || was.phase == Phase::forward;
      all_update = all_update && was.phase == Phase::update;
      if (op.layer.empty()) op.layer = was.layer;
      op.state_bytes = add_bytes(op.state_bytes, was.state_bytes);
      if (was.merged_types.empty()) ++types[was.type];
      for (const auto& [type, count] : was.merged_types) types[type] += count;
      if (was.type == "Variable" && !names_a_parameter(was))
        for (const TensorId output : was.outputs)
          if (vanishes(output, group))
            op.state_bytes = add_bytes(op.state_bytes, old_.tensors[output.index()].bytes().value_or(0));
    }
    op.merged_types.assign(types.begin(), types.end());
    op.phase = any_forward ? Phase::forward : all_update ? Phase::update : Phase::backward;
    sum_costs(group, op);
    take_operands(group, op);
    return op;
  }

  void sum_costs(std::uint32_t group, GraphOp& op) const {
    std::array<double, 32> flops_of{}, bytes_of{};
    double flops = 0;
    Bytes read = 0, written = 0;
    bool incomplete = false;
    for (const std::uint32_t member : members_[group]) {
      const OpCost cost = cost_of(old_, OpId{member});
      const MemoryTraffic kept = partition_.fused ? without_vanished(cost, group, old_.ops[member])
                                                  : MemoryTraffic{cost.bytes_read, cost.bytes_written};
      flops += cost.flops;
      read = add_bytes(read, kept.read);
      written = add_bytes(written, kept.written);
      incomplete = incomplete || !cost.known_shapes;
      flops_of[static_cast<std::size_t>(cost.cls)] += cost.flops;
      bytes_of[static_cast<std::size_t>(cost.cls)] +=
          static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written);
    }
    const auto& share = flops > 0 ? flops_of : bytes_of;
    auto cls = static_cast<OpClass>(std::max_element(share.begin(), share.end()) - share.begin());
    if (flops <= 0 && read <= 0 && written <= 0) cls = OpClass::free;
    if (group < partition_.parts.size() && partition_.parts[group].cls) cls = *partition_.parts[group].cls;
    std::string type = name_of(cls);
    type[0] = static_cast<char>(type[0] - 'a' + 'A');
    op.type = type + "Layer";
    op.attributes = {{"flops", flops}, {"bytes_read", std::int64_t{read}}, {"bytes_written", std::int64_t{written}}};
    if (incomplete) op.attributes["incomplete"] = std::int64_t{1};
  }

  [[nodiscard]] MemoryTraffic without_vanished(const OpCost& cost, std::uint32_t group, const GraphOp& op) const {
    MemoryTraffic kept{cost.bytes_read, cost.bytes_written};
    std::vector<std::uint32_t> read;
    for (const Operand& input : op.inputs)
      if (input.is_tensor() && vanishes(TensorId{input.index}, group)) read.push_back(input.index);
    sort_and_keep_once(read, std::less<>());
    for (const std::uint32_t tensor : read) kept.read -= old_.tensors[tensor].bytes().value_or(0);
    for (const TensorId output : op.outputs)
      if (vanishes(output, group)) kept.written -= old_.tensors[output.index()].bytes().value_or(0);
    return {std::max<Bytes>(0, kept.read), std::max<Bytes>(0, kept.written)};
  }

  // What comes from outside, each once; groups waited for go to `after`.
  void take_operands(std::uint32_t group, GraphOp& merged_op) const {
    for (const std::uint32_t member : members_[group]) {
      const GraphOp& op = old_.ops[member];
      // The output of a Variable stands for its parameter where others read it, as in share_parameters.
      const bool variable = op.type == "Variable" && !op.outputs.empty() && !vanishes(op.outputs.front(), group);
      for (const Operand& input : op.inputs) {
        if (input.is_parameter() && !variable)
          merged_op.inputs.push_back(Operand::of(ParameterId{buffer_of_[input.index]}));
        if (input.is_tensor() && !is_inner(input.index, group)) merged_op.inputs.push_back(tensor_now_[input.index]);
      }
      for (const OpId before : op.after)
        if (group_of_[before.index()] != group) merged_op.after.push_back(result_.became[before.index()]);
    }
    // An update names its parameter first, then gradients.
    sort_and_keep_once(merged_op.inputs, [](const Operand& a, const Operand& b) {
      return std::pair{!a.is_parameter(), a.index} < std::pair{!b.is_parameter(), b.index};
    });
    sort_and_keep_once(merged_op.after, std::less<>());
  }

  static bool names_a_parameter(const GraphOp& op) {
    return std::any_of(op.inputs.begin(), op.inputs.end(), [](const Operand& input) { return input.is_parameter(); });
  }

  [[nodiscard]] bool is_inner(std::uint32_t tensor, std::uint32_t group) const {
    const OpId producer = old_.tensors[tensor].producer;
    return !producer.is_none() && group_of_[producer.index()] == group;
  }

  // Is the tensor read, by members of the group that makes it alone?
  [[nodiscard]] bool vanishes(TensorId id, std::uint32_t group) const {
    const std::vector<OpId>& consumers = old_.tensors[id.index()].consumers;
    return stated_[group] && !consumers.empty() && is_inner(id.value, group) &&
           std::all_of(consumers.begin(), consumers.end(), [&](OpId op) { return group_of_[op.index()] == group; });
  }

  // Of a merged op: tensors that others read, and the results of ops that nobody reads.
  void add_outputs(OpId id, std::uint32_t group, const GraphOp& op) {
    const bool result = std::all_of(op.outputs.begin(), op.outputs.end(),
                                    [&](TensorId t) { return old_.tensors[t.index()].consumers.empty(); });
    for (const TensorId output : op.outputs) {
      const GraphTensor& tensor = old_.tensors[output.index()];
      const bool leaves = std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                      [&](OpId consumer) { return group_of_[consumer.index()] != group; });
      if (leaves || result || !stated_[group])
        tensor_now_[output.index()] =
            Operand::of(result_.graph.add_output(id, tensor.name, tensor.dtype, tensor.shape));
    }
  }

  // Only now, since a file may list a backward op before its forward op.
  void link_to_forward_ops() {
    for (std::uint32_t g = 0; g < groups_; ++g) {
      if (members_[g].empty()) continue;
      const GraphOp& first = old_.ops[members_[g].front()];
      GraphOp& op = result_.graph.ops[result_.became[members_[g].front()].index()];
      const bool none = op.phase == Phase::forward || first.forward_of.is_none();
      op.forward_of = none ? OpId{} : result_.became[first.forward_of.index()];
    }
  }

  struct Buffer {
    const GraphParameter* first;
    Shape shape;
  };

  const Graph& old_;
  const Partition& partition_;
  PassResult result_;
  std::uint32_t groups_ = 0;
  std::vector<std::uint32_t> group_of_;  // per op
  std::vector<char> stated_;             // per group: merged into a `<Class>Layer`
  IdLists members_;
  std::vector<std::string> names_;  // per group
  std::vector<std::string> colocation_names_;
  std::vector<std::uint32_t> colocation_;  // per group
  std::vector<Buffer> buffers_;
  std::vector<std::uint32_t> buffer_of_;  // per parameter
  std::vector<Operand> tensor_now_;
};

}  // namespace

PassResult merge_ops(const Graph& graph, const Partition& partition) { return Merger(graph, partition).run(); }

}  // namespace emplace
