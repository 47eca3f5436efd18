// What holds for every pass that merges ops, checked on any graph.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"

namespace emplace::test {

inline Bytes parameter_bytes(const Graph& graph) {
  Bytes bytes = 0;
  for (const GraphParameter& parameter : graph.parameters) bytes += parameter.bytes().value_or(0);
  return bytes;
}

inline Bytes state_bytes(const Graph& graph) {
  Bytes bytes = 0;
  for (const GraphOp& op : graph.ops) bytes += op.state_bytes;
  return bytes;
}

// Bytes by name of the tensors that no op reads: the results of the graph.
inline std::map<std::string, Bytes> results_of(const Graph& graph) {
  std::map<std::string, Bytes> results;
  for (const GraphOp& op : graph.ops) {
    bool read = false;
    for (const TensorId output : op.outputs) read = read || !graph.tensors[output.index()].consumers.empty();
    for (const TensorId output : op.outputs)
      if (!read) results[graph.tensors[output.index()].name] = graph.tensors[output.index()].bytes().value_or(0);
  }
  return results;
}

// The first op of the graph before that has an edge which is neither inside one op now nor between the ops of its ends;
// empty if there is none.
inline std::string op_with_a_lost_edge(const Graph& before, const PassResult& result) {
  const Graph& after = result.graph;
  for (std::size_t i = 0; i < before.ops.size(); ++i) {
    const GraphOp& op = before.ops[i];
    const OpId to = result.became[i];
    for (const Operand& input : op.inputs) {
      if (!input.is_tensor() || before.tensors[input.index].producer.is_none()) continue;
      const OpId from = result.became[before.tensors[input.index].producer.index()];
      bool found = from == to;
      for (const TensorId output : after.ops[from.index()].outputs) {
        const std::vector<OpId>& consumers = after.tensors[output.index()].consumers;
        found = found || std::find(consumers.begin(), consumers.end(), to) != consumers.end();
      }
      if (!found) return op.name;
    }
    for (const OpId waited : op.after) {
      const OpId from = result.became[waited.index()];
      const auto& list = after.ops[to.index()].after;
      if (from != to && std::find(list.begin(), list.end(), from) == list.end()) return op.name;
    }
  }
  return "";
}

// Counts of op types, those of merged ops included.
inline std::map<std::string, std::size_t> types_of(const Graph& graph) {
  std::map<std::string, std::size_t> types;
  for (const GraphOp& op : graph.ops) {
    if (op.merged_types.empty()) ++types[op.type];
    for (const auto& [type, count] : op.merged_types) types[type] += count;
  }
  return types;
}

// What is wrong with the result; empty if nothing is. Throws what validate throws.
inline std::string broken_law(const Graph& before, const PassResult& result) {
  const Graph& after = result.graph;
  after.validate();  // acyclic too
  if (result.became.size() != before.ops.size()) return "the map does not speak of every op";
  std::vector<std::size_t> members(after.ops.size(), 0);
  for (const OpId now : result.became) {
    if (now.is_none() || now.index() >= after.ops.size()) return "an op vanished";
    ++members[now.index()];
  }
  if (std::count(members.begin(), members.end(), 0U) > 0) return "an op is new";
  if (types_of(before) != types_of(after)) return "the types merged are not those that were there";

  const GraphStatistics was = statistics(before), now = statistics(after);
  if (!(std::abs(now.flops - was.flops) <= 1e-9 * was.flops))
    return fmt::format("{} FLOPs, not {}", now.flops, was.flops);
  if (now.uncosted_ops != was.uncosted_ops) return "other ops are not costed";
  if (now.parameters != was.parameters) return "the number of parameters changed";
  if (parameter_bytes(after) != parameter_bytes(before)) return "the bytes of parameters changed";
  if (state_bytes(after) != state_bytes(before)) return "the bytes of state changed";
  std::map<std::string, Bytes> unread;
  for (const GraphTensor& tensor : after.tensors)
    if (tensor.consumers.empty()) unread[tensor.name] = tensor.bytes().value_or(0);
  for (const auto& [name, bytes] : results_of(before))
    if (const auto at = unread.find(name); at == unread.end() || at->second != bytes) return name + " is no result";
  if (const std::string op = op_with_a_lost_edge(before, result); !op.empty()) return "an edge to " + op + " is lost";

  // Two ops of one co-location group stay in one.
  std::map<std::string, std::string> group_now;
  for (std::size_t i = 0; i < before.ops.size(); ++i) {
    if (before.ops[i].colocate.empty()) continue;
    const std::string& group = after.ops[result.became[i].index()].colocate;
    if (group.empty() || group_now.try_emplace(before.ops[i].colocate, group).first->second != group)
      return "the co-location group " + before.ops[i].colocate + " is split";
  }
  return "";
}

}  // namespace emplace::test
