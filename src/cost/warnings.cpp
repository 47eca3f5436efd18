#include <fmt/core.h>

#include <algorithm>

#include "emplace/base/text.hpp"
#include "emplace/cost/lower.hpp"

namespace emplace {

namespace {

// The first few names, and how many more there are.
std::string some_of(const std::vector<std::string>& items) {
  constexpr std::size_t shown = 10;
  std::vector<std::string> first(items.begin(),
                                 items.begin() + static_cast<std::ptrdiff_t>(std::min(shown, items.size())));
  std::string text = join(first, ", ");
  if (items.size() > shown) text += fmt::format(" and {} more", items.size() - shown);
  return text;
}

}  // namespace

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
        "{} of {} ops ({:.2g} %) have a type that the cost table does not know; they are timed by their memory "
        "traffic alone, gradients also by twice the FLOPs of their forward op: {}",
        ops, statistics.ops, 100.0 * static_cast<double>(ops) / static_cast<double>(statistics.ops), some_of(types)));
  }
  if (!statistics.unknown_tensors.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : statistics.unknown_tensors) names.push_back(quote(name));
    warnings.push_back(
        fmt::format("{} tensors or parameters have no known size and count 0 bytes: {}", names.size(), some_of(names)));
  }
  if (!lowered.unmatched_unsupported.empty())
    warnings.push_back(fmt::format(
        "the machine lists unsupported op types that neither the cost table nor the graph knows, perhaps misspelt: {}",
        some_of(lowered.unmatched_unsupported)));
  for (std::string& warning : profile_warnings(lowered.measured, lowered.graph)) warnings.push_back(std::move(warning));
  return warnings;
}

}  // namespace emplace
