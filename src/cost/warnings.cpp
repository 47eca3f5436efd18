#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "cost/lower.hpp"
#include "cost/op_names.hpp"
#include "cost/unsized.hpp"

namespace emplace::cost {

namespace {

std::string nearest_op(const std::string& wanted, const Graph& graph) {
  constexpr std::size_t most_steps = 50'000'000;  // a tenth of a second
  std::size_t letters = 0;
  for (const GraphOp& op : graph.ops) letters += op.name.size();
  if (letters > most_steps / std::max<std::size_t>(1, wanted.size())) return {};
  std::vector<std::string> names;
  for (const GraphOp& op : graph.ops) names.push_back(op.name);
  return did_you_mean(wanted, names);
}

}  // namespace

std::string removed_ops(std::span<const OpId> became) {
  const auto removed = std::ranges::count_if(became, [](OpId now) { return now.is_none(); });
  if (removed == 0) return {};
  return fmt::format(
      "{} of {} ops of the model are not placed: their results depend on no input, they only pass on what they read "
      "(Identity, Dropout), or nothing that is placed reads them",
      removed, became.size());
}

std::string some_of(std::span<const std::string> items) {
  constexpr std::size_t shown = 10;
  std::string text = join(items.first(std::min(shown, items.size())), ", ");
  if (items.size() > shown) text += fmt::format(" and {} more", items.size() - shown);
  return text;
}

std::string some_ops(std::span<const std::string> names, const Graph* near_in) {
  constexpr std::size_t shown = 5;
  std::vector<std::string> quoted;
  for (const std::string& name : names) {
    if (quoted.size() == shown) break;
    quoted.push_back(quote(name) + (near_in != nullptr ? nearest_op(name, *near_in) : ""));
  }
  std::string text = join(quoted, ", ");
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::vector<std::string> profile_warnings(std::span<const ProfileUse> profiles, const Graph& graph) {
  std::vector<std::string> warnings;
  const auto warn = [&](const ProfileUse& use, const UnusedTimes& unused, const char* why, const Graph* near_in) {
    if (unused.times > 0)
      warnings.push_back(fmt::format("{}: {} of {} times {}: {}", use.file, unused.times, use.times, why,
                                     some_ops(unused.ops, near_in)));
  };
  for (const ProfileUse& use : profiles) {
    warn(use, use.unmatched, "are of no op of the graph", &graph);
    warn(use, use.other_type,
         "are of ops that have another type in the graph, so perhaps of fused kernels, and are not used", nullptr);
    warn(use, use.partial, "are not used, as their ops are merged with others that were not measured", nullptr);
    warn(use, use.fused, "are of kernels of a run that fused ops, and are only used for a fused graph (--fuse)",
         nullptr);
  }
  return warnings;
}

std::vector<std::string> cost_warnings(const Lowered& lowered) {
  const GraphStatistics& statistics = lowered.statistics;
  std::vector<std::string> warnings;
  if (!statistics.uncosted_ops.empty()) {
    std::size_t ops = 0;
    std::vector<std::string> types;
    for (const auto& [type, count] : statistics.uncosted_ops) {
      ops += count;
      types.push_back(fmt::format("{} ({})", quote(type), count));
    }
    warnings.push_back(fmt::format(
        "{} of {} ops ({:.2g} %) have a type that is not in the cost table; they are timed by their memory "
        "traffic alone, gradients also by twice the FLOPs of their forward op: {}",
        ops, statistics.ops, 100.0 * static_cast<double>(ops) / static_cast<double>(statistics.ops), some_of(types)));
  }
  if (!statistics.unknown_tensors.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : statistics.unknown_tensors) names.push_back(quote(name));
    const std::string ops = unsized_ops(lowered);
    warnings.push_back(fmt::format("{} tensors or parameters have no known size and count 0 bytes: {}{}{}",
                                   names.size(), some_of(names), ops.empty() ? "" : "; ", ops));
  }
  if (!lowered.unmatched_unsupported.empty())
    warnings.push_back(fmt::format(
        "the machine lists unsupported op types that are in neither the cost table nor the graph, perhaps misspelt: {}",
        some_of(lowered.unmatched_unsupported)));
  for (std::string& warning : profile_warnings(lowered.measured.profiles, lowered.graph))
    warnings.push_back(std::move(warning));
  return warnings;
}

}  // namespace emplace::cost
