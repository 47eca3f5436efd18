#include "cost/unsized.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cost/op_names.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "graph/ops/inputs.hpp"

namespace emplace::cost {

namespace {

constexpr double most_unsized_share = 0.01;

// "'Reshape' (12), 'Loop' (5)", the most frequent type first.
std::string types_with_counts(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [type, count] : sorted) words.push_back(fmt::format("{} ({})", quote(type), count));
  return some_of(words);
}

// Per type the ops that have an output of unknown size.
std::map<std::string, std::int64_t> unsized_op_counts(const Graph& graph) {
  std::map<std::string, std::int64_t> counts;
  for (const GraphOp& op : graph.ops)
    if (std::ranges::any_of(op.outputs, [&](TensorId id) { return !graph.tensors[id.index()].bytes(); }))
      ++counts[op.type];
  return counts;
}

// "0.12", "57": without the sign.
std::string percent_text(double share) {
  return share < 0.1 ? fmt::format("{:.2g}", 100 * share) : fmt::format("{:.0f}", 100 * share);
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& counts) {
  std::int64_t sum = 0;
  for (const auto& [type, count] : counts) sum += count;
  return sum;
}

// Inputs with an open size: "'ids' (?x128), 'mask' (?x128)"; "" if there are none.
std::string open_inputs(const Graph& graph) {
  std::vector<std::string> open;
  for (const auto& [name, tensor] : inputs_of(graph))
    if (!tensor->shape.is_static()) open.push_back(fmt::format("{} ({})", quote(name), tensor->shape.str()));
  return some_of(open);
}

// The files of weights that the model names and that do not exist, as a list in words; "" if there are none.
std::string absent_files(const std::string& model) {
  if (!file_exists(model)) return {};
  std::vector<std::string> absent;
  for (const std::string& file : formats::files_of_model(model))
    if (!file_exists(file)) absent.push_back(quote(file));
  return absent.empty() ? "" : some_of(absent);
}

}  // namespace

std::string unsized_ops(const Lowered& lowered) {
  const auto counts = unsized_op_counts(lowered.graph);
  if (counts.empty()) return {};
  const std::int64_t ops = sum_of(counts);
  return fmt::format("{} of {} ops ({} %) have outputs of unknown size: {}", ops, lowered.graph.ops.size(),
                     percent_text(static_cast<double>(ops) / static_cast<double>(lowered.graph.ops.size())),
                     types_with_counts(counts));
}

std::string advice_on_sizes(const Graph& graph, bool of_recipe) {
  if (const std::string open = open_inputs(graph); !open.empty())
    return fmt::format("give the sizes of {} with {}", open,
                       of_recipe ? R"(shape = ["INPUT=SIZES"] or batch = N (after `train`: 'shape=["INPUT=SIZES"]' or )"
                                   "batch=N)"
                                 : "--shape INPUT=SIZES or --batch N");
  std::vector<std::string> first;
  for (const GraphOp& op : graph.ops) {
    const auto has_size = [&](const Operand& input) {
      return !input.is_tensor() || graph.tensors[input.index].shape.is_static();
    };
    const auto has_no_size = [&](TensorId output) { return !graph.tensors[output.index()].shape.is_static(); };
    if (std::ranges::all_of(op.inputs, has_size) && std::ranges::any_of(op.outputs, has_no_size))
      first.push_back(fmt::format("{} ({})", quote(op.name), op.type));
  }
  if (first.empty())
    return "all inputs have fixed sizes, but the sizes of these constants follow from values of others";
  return fmt::format(
      "all inputs have fixed sizes, but the sizes of what these ops give depend on data, or no rule for them is known: "
      "{}",
      some_of(first));
}

void refuse_unsized(const Lowered& lowered, const RooflineOptions& options, const std::string& place, bool of_recipe) {
  if (options.allow_unsized) return;
  const auto ops = static_cast<double>(sum_of(unsized_op_counts(lowered.graph)));
  if (ops <= most_unsized_share * static_cast<double>(lowered.graph.ops.size())) return;
  const std::string absent = open_inputs(lowered.graph).empty() ? absent_files(place) : "";
  const std::string files =
      absent.empty() ? "" : "; files of weights, from which sizes may follow, are not there: " + absent;
  throw InputError(place, "{}; their costs would be far too low; {}{}. {} accepts wrong costs", unsized_ops(lowered),
                   advice_on_sizes(lowered.graph, of_recipe), files,
                   of_recipe ? "allow_unsized = true in [roofline] (after `train`: roofline.allow_unsized=true)"
                             : "--allow-unsized");
}

std::vector<std::string> unsized_caveat(const Problem& problem, const std::string& place) {
  if (problem.unsized.empty()) return {};
  return {
      fmt::format("{}: {} tensors had no known size when this problem was made and count 0 bytes, so that times and "
                  "transfers are too short; they are outputs of {}",
                  place, sum_of(problem.unsized), types_with_counts(problem.unsized))};
}

}  // namespace emplace::cost
