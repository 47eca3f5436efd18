#include "graph/passes/merge.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>

#include "graph/ops/op_row.hpp"
#include "graph/ops/weights.hpp"
#include "graph/passes/merge_groups.hpp"

namespace emplace {

namespace {

template <class List, class Less>
void sort_and_keep_once(List& list, Less less) {
  std::sort(list.begin(), list.end(), less);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

class Merger {
 public:
  Merger(const Graph& graph, const Partition& partition)
      : old_(graph), partition_(partition), groups_(merge_groups(graph, partition)) {}

  PassResult run() {
    merge_parameters();
    result_.graph.name = old_.name;
    result_.became.resize(old_.ops.size());
    result_.graph.ops.reserve(groups_.order.size());
    result_.graph.tensors.reserve(old_.tensors.size());
    for (const Buffer& buffer : buffers_) {
      const ParameterId id = add_parameter_like(result_.graph, *buffer.first, buffer.shape);
      // That it is none follows from its users and its rank, which merging changes.
      result_.graph.parameters[id.index()].no_weight = !buffer.is_weight;
      result_.graph.parameters[id.index()].stored_bytes = buffer.stored;
    }
    tensor_now_.resize(old_.tensors.size());
    for (std::size_t i = 0; i < old_.tensors.size(); ++i)
      if (const GraphTensor& tensor = old_.tensors[i]; tensor.producer.is_none())
        tensor_now_[i] = Operand::of(result_.graph.add_input(tensor.name, tensor.dtype, tensor.shape));
    for (const std::uint32_t group : groups_.order)
      if (!groups_.members[group].empty()) add(group);
    link_to_forward_ops();
    return std::move(result_);
  }

 private:
  // Combines the weights that only the same merged ops use into one buffer.
  void merge_parameters() {
    using Signature = std::pair<std::vector<std::uint32_t>, std::tuple<bool, DType, bool, bool, bool>>;
    std::map<Signature, std::uint32_t> known;
    const std::vector<bool> weights = find_weights(old_);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const GraphParameter& parameter = old_.parameters[i];
      const bool in_blocks = parameter.stored_bytes > 0;
      Signature users{{}, {parameter.trainable, parameter.dtype, parameter.folded, weights[i], in_blocks}};
      for (const OpId user : parameter.users) users.first.push_back(groups_.of_op[user.index()]);
      sort_and_keep_once(users.first, std::less<>());
      const bool all_merged =
          std::all_of(users.first.begin(), users.first.end(), [&](auto g) { return groups_.stated[g]; });
      auto buffer = static_cast<std::uint32_t>(buffers_.size());
      if (all_merged && !users.first.empty() && parameter.bytes())
        buffer = known.try_emplace(std::move(users), buffer).first->second;
      if (buffer == buffers_.size()) {
        buffers_.push_back({&parameter, parameter.shape, weights[i], parameter.stored_bytes});
      } else {
        Shape& shape = buffers_[buffer].shape;
        shape = {add_bytes(*shape.elements(), *parameter.shape.elements())};
        buffers_[buffer].stored = add_bytes(buffers_[buffer].stored, parameter.stored_bytes);
      }
      buffer_of_.push_back(buffer);
    }
  }

  void add(std::uint32_t group) {
    GraphOp op = groups_.stated[group] ? merged(group) : copied(group);
    op.name = std::move(groups_.names[group]);
    op.colocate = std::move(groups_.colocate[group]);
    const OpId id = result_.graph.add_op(std::move(op));
    for (const std::uint32_t member : groups_.members[group]) result_.became[member] = id;
    for (const std::uint32_t member : groups_.members[group]) add_outputs(id, group, old_.ops[member]);
  }

  [[nodiscard]] GraphOp copied(std::uint32_t group) const {
    GraphOp op = old_.ops[groups_.members[group].front()];
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
    std::map<std::string_view, std::uint32_t> types, stated;
    bool any_forward = false, all_update = true, all_before = true;
    for (const std::uint32_t member : groups_.members[group]) {
      const GraphOp& was = old_.ops[member];
      any_forward = any_forward || was.phase == Phase::forward;
      all_update = all_update && was.phase == Phase::update;
      all_before = all_before && was.before_step;
      if (op.layer.empty()) op.layer = was.layer;
      if (op.module.empty()) op.module = was.module;
      op.state_bytes = add_bytes(op.state_bytes, was.state_bytes);
      if (was.merged_types.empty()) {
        ++types[was.type];
        if (const std::uint32_t count = stated_costs(was, was.type); count > 0) stated[was.type] += count;
      }
      for (const auto& [type, count] : was.merged_types) {
        types[type] += count;
        if (const std::uint32_t has = stated_costs(was, type); has > 0) stated[type] += has;
      }
      if (was.type == "Variable" && !names_a_parameter(was))
        for (const TensorId output : was.outputs)
          if (vanishes(output, group))
            op.state_bytes = add_bytes(op.state_bytes, old_.tensors[output.index()].bytes().value_or(0));
    }
    op.before_step = all_before;
    op.merged_types.assign(types.begin(), types.end());
    op.phase = any_forward ? Phase::forward : all_update ? Phase::update : Phase::backward;
    sum_costs(group, op);
    for (const auto& [type, count] : stated) set_stated_costs(op, std::string(type), count);
    take_operands(group, op);
    return op;
  }

  void sum_costs(std::uint32_t group, GraphOp& op) const {
    std::array<double, 32> flops_of{}, bytes_of{};
    double flops = 0;
    Bytes read = 0, written = 0;
    bool incomplete = false;
    for (const std::uint32_t member : groups_.members[group]) {
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

  // Sets the operands from outside the group, each once, and the control dependencies (`after`) on other groups.
  void take_operands(std::uint32_t group, GraphOp& merged_op) const {
    for (const std::uint32_t member : groups_.members[group]) {
      const GraphOp& op = old_.ops[member];
      // If other groups read a Variable, its output stands for its parameter, as in share_parameters.
      const bool variable = op.type == "Variable" && !op.outputs.empty() && !vanishes(op.outputs.front(), group);
      for (const Operand& input : op.inputs) {
        if (input.is_parameter() && !variable)
          merged_op.inputs.push_back(Operand::of(ParameterId{buffer_of_[input.index]}));
        if (input.is_tensor() && !is_inner(input.index, group)) merged_op.inputs.push_back(tensor_now_[input.index]);
      }
      for (const OpId before : op.after)
        if (groups_.of_op[before.index()] != group) merged_op.after.push_back(result_.became[before.index()]);
    }
    // The operands of an update are its parameter, then gradients.
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
    return !producer.is_none() && groups_.of_op[producer.index()] == group;
  }

  // Whether the tensor has readers and all of them are in the group that produces it.
  [[nodiscard]] bool vanishes(TensorId id, std::uint32_t group) const {
    const std::vector<OpId>& consumers = old_.tensors[id.index()].consumers;
    return groups_.stated[group] && !consumers.empty() && is_inner(id.value, group) &&
           std::all_of(consumers.begin(), consumers.end(), [&](OpId op) { return groups_.of_op[op.index()] == group; });
  }

  // The outputs of a merged op are the tensors that other groups read, and all outputs of members that no op reads.
  void add_outputs(OpId id, std::uint32_t group, const GraphOp& op) {
    const bool result = std::all_of(op.outputs.begin(), op.outputs.end(),
                                    [&](TensorId t) { return old_.tensors[t.index()].consumers.empty(); });
    for (const TensorId output : op.outputs) {
      const GraphTensor& tensor = old_.tensors[output.index()];
      const bool leaves = std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                      [&](OpId consumer) { return groups_.of_op[consumer.index()] != group; });
      if (leaves || result || !groups_.stated[group])
        tensor_now_[output.index()] =
            Operand::of(result_.graph.add_output(id, tensor.name, tensor.dtype, tensor.shape));
    }
  }

  // Runs after all ops were added, since a file may list a backward op before its forward op.
  void link_to_forward_ops() {
    for (std::uint32_t g = 0; g < groups_.count; ++g) {
      if (groups_.members[g].empty()) continue;
      const GraphOp& first = old_.ops[groups_.members[g].front()];
      GraphOp& op = result_.graph.ops[result_.became[groups_.members[g].front()].index()];
      const bool none = op.phase == Phase::forward || first.forward_of.is_none();
      op.forward_of = none ? OpId{} : result_.became[first.forward_of.index()];
    }
  }

  struct Buffer {
    const GraphParameter* first;
    Shape shape;
    bool is_weight;
    Bytes stored;
  };

  const Graph& old_;
  const Partition& partition_;
  MergeGroups groups_;
  PassResult result_;
  std::vector<Buffer> buffers_;
  std::vector<std::uint32_t> buffer_of_;  // per parameter
  std::vector<Operand> tensor_now_;
};

}  // namespace

PassResult merge_ops(const Graph& graph, const Partition& partition) { return Merger(graph, partition).run(); }

}  // namespace emplace
