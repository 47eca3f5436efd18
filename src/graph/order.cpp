// Topological order, and the checks of Graph::validate.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>

#include "base/name_table.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/graph/graph.hpp"

namespace emplace {

namespace {

// Calls visit(producer) for each input tensor with a producer and each control dependency; repeats are possible.
template <class Visit>
void for_each_producer(const Graph& graph, const GraphOp& op, Visit visit) {
  for (const Operand& input : op.inputs)
    if (input.is_tensor() && !graph.tensors[input.index].producer.is_none()) visit(graph.tensors[input.index].producer);
  for (const OpId before : op.after) visit(before);
}

bool ids_are_in_order(const Graph& graph) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    bool in_order = true;
    for_each_producer(graph, graph.ops[i], [&](OpId producer) { in_order &= producer.index() < i; });
    if (!in_order) return false;
  }
  return true;
}

// "a -> b -> a" for a cycle among the ops that were not sorted; long cycles are shortened in the middle.
std::string describe_cycle(const Graph& graph, const std::vector<OpId>& sorted) {
  std::vector<char> left(graph.ops.size(), 1);
  for (const OpId op : sorted) left[op.index()] = 0;
  // Every op that was not sorted has a producer that was not sorted, so following producers must reach an op again.
  OpId op{static_cast<std::size_t>(std::find(left.begin(), left.end(), 1) - left.begin())};
  std::vector<OpId> walk;
  std::vector<std::size_t> position(graph.ops.size(), graph.ops.size());
  while (position[op.index()] == graph.ops.size()) {
    position[op.index()] = walk.size();
    walk.push_back(op);
    OpId next;
    for_each_producer(graph, graph.ops[op.index()], [&](OpId producer) {
      if (next.is_none() && left[producer.index()]) next = producer;
    });
    EMPLACE_CHECK(!next.is_none());
    op = next;
  }
  std::vector<OpId> cycle(walk.begin() + static_cast<std::ptrdiff_t>(position[op.index()]), walk.end());
  std::reverse(cycle.begin(), cycle.end());
  cycle.push_back(cycle.front());
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > 8 && i == 4) {
      text += " -> ...";
      i = cycle.size() - 4;
    }
    text += (i == 0 ? "" : " -> ") + quote(graph.ops[cycle[i].index()].name);
  }
  return text;
}

template <class Items>
void check_names(const Items& items, const char* what, const std::string& place) {
  NameTable names;
  names.reserve(items.size());
  const auto name_at = [&](std::uint32_t i) -> std::string_view { return items[i].name; };
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].name.empty()) throw InputError(place, "{} {} has no name", what, i);
    if (names.add(items[i].name, static_cast<std::uint32_t>(i), name_at))
      throw InputError(place, "two {}s are called {}; names must differ", what, quote(items[i].name));
  }
}

template <class Item>
void check_size(const Item& item, const char* what, const std::string& place) {
  for (const std::int64_t dim : item.shape.dims)
    if (dim < Shape::unknown_dimension)
      throw InputError(place, "{} {} has shape {} with the negative dimension {}", what, quote(item.name),
                       item.shape.str(), dim);
  if (bytes_of(item.dtype) > 0 && item.shape.is_static() && !item.bytes())
    throw InputError(place, "{} {} of shape {} is larger than 2^62 bytes", what, quote(item.name), item.shape.str());
}

void check_links(const Graph& graph) {
  const auto ascending = [](const std::vector<OpId>& list) {
    return std::is_sorted(list.begin(), list.end(), std::less_equal<>());
  };
  // Every link of an op must be in the list at its other end; equal counts then exclude surplus links.
  std::size_t consumer_links = 0, user_links = 0;
  std::vector<OpId> last_consumer(graph.tensors.size()), last_user(graph.parameters.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const GraphOp& op = graph.ops[i];
    for (const Operand& input : op.inputs) {
      if (input.kind == Operand::Kind::none) continue;
      EMPLACE_CHECK(input.index < (input.is_tensor() ? graph.tensors.size() : graph.parameters.size()));
      OpId& last = input.is_tensor() ? last_consumer[input.index] : last_user[input.index];
      if (last == OpId{i}) continue;
      last = OpId{i};
      const auto& list = input.is_tensor() ? graph.tensors[input.index].consumers : graph.parameters[input.index].users;
      EMPLACE_CHECK(std::binary_search(list.begin(), list.end(), OpId{i}), "op {} is missing in a list", op.name);
      ++(input.is_tensor() ? consumer_links : user_links);
    }
    for (const TensorId output : op.outputs)
      EMPLACE_CHECK(output.index() < graph.tensors.size() && graph.tensors[output.index()].producer == OpId{i},
                    "an output of op {} has another producer", op.name);
    for (const OpId before : op.after) EMPLACE_CHECK(before.index() < graph.ops.size());
  }
  std::size_t outputs = 0, produced = 0;
  for (const GraphOp& op : graph.ops) outputs += op.outputs.size();
  for (const GraphTensor& tensor : graph.tensors) {
    EMPLACE_CHECK(ascending(tensor.consumers));
    consumer_links -= tensor.consumers.size();
    produced += tensor.producer.is_none() ? 0 : 1;
  }
  for (const GraphParameter& parameter : graph.parameters) {
    EMPLACE_CHECK(ascending(parameter.users));
    user_links -= parameter.users.size();
  }
  EMPLACE_CHECK(consumer_links == 0 && user_links == 0 && outputs == produced, "lists of {} disagree", graph.name);
}

}  // namespace

std::vector<OpId> Graph::topological_order(const std::string& place) const {
  std::vector<OpId> order;
  order.reserve(ops.size());
  if (ids_are_in_order(*this)) {
    for (std::size_t i = 0; i < ops.size(); ++i) order.emplace_back(i);
    return order;
  }
  // Kahn's algorithm over all producer-consumer links, repeated ones counted as often as they occur.
  std::vector<std::uint32_t> missing(ops.size(), 0), begin(ops.size() + 1, 0);
  for (const GraphOp& op : ops) for_each_producer(*this, op, [&](OpId producer) { ++begin[producer.index() + 1]; });
  for (std::size_t i = 0; i < ops.size(); ++i) begin[i + 1] += begin[i];
  std::vector<std::uint32_t> successors(begin.back()), fill(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < ops.size(); ++i)
    for_each_producer(*this, ops[i], [&](OpId producer) {
      successors[fill[producer.index()]++] = static_cast<std::uint32_t>(i);
      ++missing[i];
    });
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (missing[i] == 0) ready.push(i);
  while (!ready.empty()) {
    const std::uint32_t op = ready.top();
    ready.pop();
    order.emplace_back(op);
    for (std::uint32_t k = begin[op]; k < begin[op + 1]; ++k)
      if (--missing[successors[k]] == 0) ready.push(successors[k]);
  }
  if (order.size() < ops.size()) throw InputError(place, "the graph has a cycle: {}", describe_cycle(*this, order));
  return order;
}

void Graph::validate(const std::string& place) const {
  check_names(ops, "op", place);
  check_names(tensors, "tensor", place);
  check_names(parameters, "parameter", place);
  check_links(*this);
  for (const GraphTensor& tensor : tensors) {
    check_size(tensor, "tensor", place);
    // Empty constants are common (the roi of a Resize) and allowed, but a model cannot compute with an empty input.
    if (tensor.producer.is_none() && std::count(tensor.shape.dims.begin(), tensor.shape.dims.end(), 0) > 0)
      throw InputError(place, "input {} has shape {}, with a dimension of size 0", quote(tensor.name),
                       tensor.shape.str());
  }
  for (const GraphParameter& parameter : parameters) check_size(parameter, "parameter", place);
  (void)topological_order(place);
}

}  // namespace emplace
