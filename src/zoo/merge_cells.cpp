#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <queue>

#include "detail.hpp"
#include "emplace/base/error.hpp"
#include "emplace/graph/op_table.hpp"

namespace emplace {

namespace {

constexpr std::uint32_t nobody = 0xffffffff;

// Sums stop at 2^62; the problem's builder refuses such totals.
void add_to(std::int64_t& sum, std::int64_t more) { sum = more > total_limit - sum ? total_limit : sum + more; }

class Merger {
 public:
  Merger(const Graph& graph, const Cells& cells) : old_(graph), cells_(cells) {}

  MergeResult run() {
    group_forward_and_backward();
    merge_parameters();
    group_updates();
    for (std::uint32_t i = 0; i < group_of_.size(); ++i) members_[group_of_[i]].push_back(OpId{i});
    build();
    return std::move(result_);
  }

 private:
  std::uint32_t new_group(std::string name) {
    names_.push_back(std::move(name));
    members_.emplace_back();
    return static_cast<std::uint32_t>(names_.size() - 1);
  }

  void group_forward_and_backward() {
    group_of_.assign(old_.ops.size(), nobody);
    std::vector<std::uint32_t> forward(cells_.names.size(), nobody), backward(cells_.names.size(), nobody);
    for (std::size_t i = 0; i < old_.ops.size(); ++i) {
      const GraphOp& op = old_.ops[i];
      if (op.phase == Phase::update) continue;
      const std::size_t stands_for = op.phase == Phase::forward ? i : op.forward_of.index();
      const std::uint32_t cell = cells_.of_op[stands_for];
      if (cell == Cells::none) {
        group_of_[i] = new_group(op.name);
        continue;
      }
      std::uint32_t& group = (op.phase == Phase::forward ? forward : backward)[cell];
      if (group == nobody)
        group = new_group(op.phase == Phase::forward ? cells_.names[cell] : "grad/" + cells_.names[cell]);
      group_of_[i] = group;
    }
  }

  // Parameters with the same users become one: the weights of a layer are one buffer.
  void merge_parameters() {
    using Signature = std::pair<std::vector<std::uint32_t>, std::pair<bool, DType>>;
    std::map<Signature, std::uint32_t> known;
    for (const GraphParameter& parameter : old_.parameters) {
      Signature signature{{}, {parameter.trainable, parameter.dtype}};
      for (const OpId user : parameter.users)
        if (old_.ops[user.index()].phase != Phase::update) signature.first.push_back(group_of_[user.index()]);
      std::sort(signature.first.begin(), signature.first.end());
      signature.first.erase(std::unique(signature.first.begin(), signature.first.end()), signature.first.end());
      const auto at = known.try_emplace(std::move(signature), static_cast<std::uint32_t>(parameters_.size())).first;
      if (at->second == parameters_.size()) parameters_.push_back({parameter.name, 0, &parameter});
      add_to(parameters_[at->second].elements, parameter.shape.elements().value_or(0));
      parameter_now_.push_back(at->second);
    }
    for (const Merged& merged : parameters_)
      result_.graph.add_parameter(merged.name, merged.first->dtype, {merged.elements}, merged.first->trainable);
  }

  void group_updates() {
    std::vector<std::uint32_t> group(parameters_.size(), nobody);
    for (std::size_t i = 0; i < old_.ops.size(); ++i) {
      const GraphOp& op = old_.ops[i];
      if (op.phase != Phase::update) continue;
      EMPLACE_CHECK(!op.inputs.empty() && op.inputs[0].is_parameter(), "update {} without its parameter", op.name);
      const std::uint32_t parameter = parameter_now_[op.inputs[0].index];
      if (group[parameter] == nobody) group[parameter] = new_group("update/" + parameters_[parameter].name);
      group_of_[i] = group[parameter];
    }
  }

  // Groups in topological order, that of the smallest member first.
  std::vector<std::uint32_t> order() {
    std::vector<std::vector<std::uint32_t>> after(names_.size());
    std::vector<std::uint32_t> waits(names_.size(), 0);
    const auto edge = [&](OpId from, std::size_t to) {
      const std::uint32_t a = group_of_[from.index()], b = group_of_[to];
      if (a == b) return;
      after[a].push_back(b);
      ++waits[b];
    };
    for (std::size_t i = 0; i < old_.ops.size(); ++i) {
      for (const Operand& input : old_.ops[i].inputs)
        if (input.is_tensor() && !old_.tensors[input.index].producer.is_none())
          edge(old_.tensors[input.index].producer, i);
      for (const OpId before : old_.ops[i].after) edge(before, i);
    }
    using Ready = std::pair<std::uint32_t, std::uint32_t>;  // smallest member, group
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    const auto push = [&](std::uint32_t group) { ready.push({members_[group].front().value, group}); };
    for (std::uint32_t g = 0; g < names_.size(); ++g)
      if (waits[g] == 0) push(g);
    std::vector<std::uint32_t> sorted;
    while (!ready.empty()) {
      const std::uint32_t group = ready.top().second;
      ready.pop();
      sorted.push_back(group);
      for (const std::uint32_t next : after[group])
        if (--waits[next] == 0) push(next);
    }
    for (std::uint32_t g = 0; g < names_.size(); ++g)
      EMPLACE_CHECK(waits[g] == 0, "a path leaves cell {} of {} and comes back", names_[g], old_.name);
    return sorted;
  }

  void build() {
    result_.graph.name = old_.name;
    result_.merged_into.resize(old_.ops.size());
    tensor_now_.resize(old_.tensors.size());
    for (std::size_t i = 0; i < old_.tensors.size(); ++i)
      if (const GraphTensor& tensor = old_.tensors[i]; tensor.producer.is_none())
        tensor_now_[i] = Operand::of(result_.graph.add_input(tensor.name, tensor.dtype, tensor.shape));
    for (const std::uint32_t group : order()) add(group);
  }

  void add(std::uint32_t group) {
    const GraphOp& first = old_.ops[members_[group].front().index()];
    GraphOp op;
    op.name = names_[group];
    op.layer = first.layer;
    op.phase = first.phase;
    if (!first.forward_of.is_none()) op.forward_of = result_.merged_into[first.forward_of.index()];
    sum_costs(group, op);
    op.inputs = operands_of(group, op.after);
    const OpId id = result_.graph.add_op(std::move(op));
    for (const OpId member : members_[group]) result_.merged_into[member.index()] = id;
    for (const OpId member : members_[group]) add_outputs(id, group, old_.ops[member.index()]);
  }

  void sum_costs(std::uint32_t group, GraphOp& op) const {
    std::array<double, 32> flops_of{}, bytes_of{};
    double flops = 0;
    Bytes read = 0, written = 0;
    for (const OpId member : members_[group]) {
      const OpCost cost = cost_of(old_, member);
      flops += cost.flops;
      add_to(read, cost.bytes_read);
      add_to(written, cost.bytes_written);
      flops_of[static_cast<std::size_t>(cost.cls)] += cost.flops;
      bytes_of[static_cast<std::size_t>(cost.cls)] +=
          static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written);
      add_to(op.state_bytes, old_.ops[member.index()].state_bytes);
    }
    const auto& share = flops > 0 ? flops_of : bytes_of;
    const auto largest = static_cast<OpClass>(std::max_element(share.begin(), share.end()) - share.begin());
    op.type = layer_type(read > 0 || written > 0 ? largest : OpClass::free);
    op.attributes = {{"flops", flops},
                     {"bytes_read", std::int64_t{read}},
                     {"bytes_written", std::int64_t{written}},
                     {"members", static_cast<std::int64_t>(members_[group].size())}};
  }

  // What comes from outside, each once; groups waited for go to `after`.
  std::vector<Operand> operands_of(std::uint32_t group, std::vector<OpId>& after) const {
    std::vector<Operand> operands;
    for (const OpId member : members_[group]) {
      const GraphOp& op = old_.ops[member.index()];
      for (const Operand& input : op.inputs) {
        if (input.is_parameter()) operands.push_back(Operand::of(ParameterId{parameter_now_[input.index]}));
        if (input.is_tensor() && !is_inner(input.index, group)) operands.push_back(tensor_now_[input.index]);
      }
      for (const OpId before : op.after)
        if (group_of_[before.index()] != group) after.push_back(result_.merged_into[before.index()]);
    }
    const auto once = [](auto& list, auto less) {
      std::sort(list.begin(), list.end(), less);
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    // An update names its parameter first, then gradients.
    once(operands, [](const Operand& a, const Operand& b) {
      return std::pair{!a.is_parameter(), a.index} < std::pair{!b.is_parameter(), b.index};
    });
    once(after, [](OpId a, OpId b) { return a.value < b.value; });
    return operands;
  }

  [[nodiscard]] bool is_inner(std::uint32_t tensor, std::uint32_t group) const {
    const OpId producer = old_.tensors[tensor].producer;
    return !producer.is_none() && group_of_[producer.index()] == group;
  }

  // Tensors that other groups read, and the results of ops that nobody reads.
  void add_outputs(OpId id, std::uint32_t group, const GraphOp& op) {
    const bool result = std::all_of(op.outputs.begin(), op.outputs.end(),
                                    [&](TensorId t) { return old_.tensors[t.index()].consumers.empty(); });
    for (const TensorId output : op.outputs) {
      const GraphTensor& tensor = old_.tensors[output.index()];
      const bool leaves = std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                      [&](OpId consumer) { return group_of_[consumer.index()] != group; });
      if (leaves || result)
        tensor_now_[output.index()] =
            Operand::of(result_.graph.add_output(id, tensor.name, tensor.dtype, tensor.shape));
    }
  }

  static std::string layer_type(OpClass cls) {
    std::string type = name_of(cls);
    type[0] = static_cast<char>(type[0] - 'a' + 'A');
    return type + "Layer";
  }

  struct Merged {
    std::string name;
    std::int64_t elements;
    const GraphParameter* first;
  };

  const Graph& old_;
  const Cells& cells_;
  MergeResult result_;
  std::vector<std::uint32_t> group_of_;  // per op
  std::vector<std::string> names_;       // per group
  std::vector<std::vector<OpId>> members_;
  std::vector<Merged> parameters_;
  std::vector<std::uint32_t> parameter_now_;
  std::vector<Operand> tensor_now_;
};

}  // namespace

MergeResult merge_cells(const Graph& graph, const Cells& cells) { return Merger(graph, cells).run(); }

}  // namespace emplace
