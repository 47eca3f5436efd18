// The human-expert placements of the papers, as rules on the names of layers.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <unordered_set>

#include "zoo/models.hpp"

namespace emplace::zoo {

std::vector<std::string> layers_of(const Graph& graph) {
  std::vector<std::string> layers;
  std::unordered_set<std::string_view> seen;
  for (const bool variables : {false, true})
    for (const GraphOp& op : graph.ops)
      if (op.inputs.empty() == variables && seen.insert(op.layer).second) layers.push_back(op.layer);
  return layers;
}

std::vector<std::size_t> expert_in_parts(LayerNames layers, std::size_t devices) {
  std::vector<std::size_t> device;
  for (std::size_t i = 0; i < layers.size(); ++i) device.push_back(i * devices / layers.size());
  return device;
}

namespace {

// The number at the end of a layer's name: 3 for "encoder/3", none for "softmax".
std::optional<std::size_t> number_of(std::string_view layer) {
  const std::size_t slash = layer.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = layer.substr(slash + 1);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

std::vector<std::size_t> expert_by_number(LayerNames layers, std::size_t devices) {
  std::size_t last = 0;
  for (const std::string& layer : layers) last = std::max(last, number_of(layer).value_or(0));
  std::vector<std::size_t> device;
  for (const std::string& layer : layers) {
    const std::size_t unnumbered = layer.starts_with("embedding") ? 0 : last;
    device.push_back(number_of(layer).value_or(unnumbered) % devices);
  }
  return device;
}

std::vector<std::size_t> expert_with_experts(LayerNames layers, std::size_t devices) {
  const auto is_expert = [](const std::string& layer) { return layer.find("/expert/") != std::string::npos; };
  std::vector<std::string> others;
  std::copy_if(layers.begin(), layers.end(), std::back_inserter(others),
               [&](const std::string& layer) { return !is_expert(layer); });
  const std::vector<std::size_t> parts = expert_in_parts(others, devices);
  std::vector<std::size_t> device;
  std::size_t next = 0;
  for (const std::string& layer : layers)
    device.push_back(is_expert(layer) ? number_of(layer).value_or(0) % devices : parts[next++]);
  return device;
}

}  // namespace emplace::zoo
