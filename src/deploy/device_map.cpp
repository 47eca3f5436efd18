#include "deploy/device_map.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::deploy {

namespace {

bool is_identifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// A path of attributes. Elements of a list are numbers, but the first part is never one.
bool is_path(const std::vector<std::string>& parts) {
  constexpr std::size_t deepest = 64;
  return parts.size() <= deepest && std::ranges::all_of(parts, is_identifier) &&
         std::isdigit(static_cast<unsigned char>(parts.front().front())) == 0;
}

// The module of a weight with a name as in a state_dict: all but the last part, "layer.0" of "layer.0.weight". A weight
// of the model itself ("class_token") counts as a module.
std::optional<std::string> module_of_weight(const std::string& name) {
  const std::vector<std::string> parts = split(name, '.');
  if (!is_path(parts)) return {};
  return parts.size() == 1 ? name : name.substr(0, name.rfind('.'));
}

// "encoder.layer.0.q" of "/encoder/layer.0/q/MatMul". The name of a list occurs twice ("/layer1/layer1.0/conv/Conv").
std::optional<std::string> module_of_scope(const std::string& op) {
  if (!op.starts_with('/')) return {};
  std::vector<std::string> parts = split(std::string_view(op).substr(1), '/');
  if (parts.size() < 2 || parts.size() > 65) return {};
  parts.pop_back();
  std::string module;
  std::string_view last;
  for (const std::string& part : parts) {
    if (!std::ranges::all_of(split(part, '.'), is_identifier)) return {};
    if (!last.empty() && part.starts_with(std::string(last) + "."))
      module.erase(module.size() - last.size());
    else if (!module.empty())
      module += '.';
    module += part;
    last = part;
  }
  return module;
}

struct Placed {
  std::string device, op;
};
using Modules = std::map<std::string, Placed>;

// The tree of module names. A module whose parts are all on one device replaces them in the map.
struct Tree {
  std::map<std::string, Tree> children;
  std::optional<std::string> device;  // of its own weights

  // The device of all its parts, if it is the same for all.
  [[nodiscard]] std::optional<std::string> common() const {
    std::optional<std::string> found = device;
    for (const auto& [name, child] : children) {
      const auto of_child = child.common();
      if (!of_child || (found && *found != *of_child)) return {};
      found = of_child;
    }
    return found;
  }

  void collect(const std::string& path, std::map<std::string, std::string>& map) const {
    if (const auto all = common()) {
      map[path] = *all;
      return;
    }
    for (const auto& [name, child] : children) child.collect(path + "." + name, map);
  }
};

Tree tree_of(const Modules& modules, const std::string& model) {
  Tree root;
  for (const auto& [path, placed] : modules) {
    Tree* at = &root;
    for (const std::string& part : split(path, '.')) at = &at->children[part];
    at->device = placed.device;
  }
  // A module that has weights itself and parts on another device needs two devices, which no key can express.
  for (const auto& [path, placed] : modules) {
    const Tree* at = &root;
    for (const std::string& part : split(path, '.')) at = &at->children.at(part);
    if (!at->children.empty() && !at->common())
      throw InputError(model,
                       "the module {} has weights of its own on {}, and parts on other devices; PyTorch places "
                       "whole modules",
                       quote(path), placed.device);
  }
  return root;
}

}  // namespace

DeviceMap device_map(const ModelPlacement& placement) {
  const PassResult pruned = prune(placement.graph);  // weights that pass through Identity nodes get their names
  DeviceMap result;
  Modules modules;
  std::set<std::string> devices_of_unnamed;
  std::optional<InputError> conflict;  // the first one; thrown only if the names are those of modules
  // Arithmetic on weights that was folded away follows its reader; it only places modules that no placed op has weights
  // of.
  using Reason = ModelPlacement::Reason;
  const auto place = [&](std::size_t i, Reason reason) {
    const GraphOp& op = placement.graph.ops[i];
    const OpId now = pruned.became[i];
    if (placement.reason_of_op[i] != reason || now.is_none()) return;
    std::vector<std::string> of_op;
    bool has_weights = false;
    for (const Operand& input : pruned.graph.ops[now.index()].inputs) {
      if (!input.is_parameter() || !pruned.graph.parameters[input.index].trainable) continue;
      has_weights = true;
      if (auto module = module_of_weight(pruned.graph.parameters[input.index].name))
        of_op.push_back(*std::move(module));
    }
    if (has_weights && of_op.empty())
      if (auto module = module_of_scope(op.name)) of_op.push_back(*std::move(module));
    if (of_op.empty() && reason == Reason::follows) return;
    if (of_op.empty()) {
      (has_weights ? result.unnamed : result.followers).push_back(op.name);
      if (has_weights) devices_of_unnamed.insert(placement.device_of_op[i]);
      return;
    }
    ++result.ops;
    for (const std::string& module : of_op) {
      const auto [known, is_new] = modules.try_emplace(module, Placed{placement.device_of_op[i], op.name});
      if (!is_new && !conflict && reason == Reason::placed && known->second.device != placement.device_of_op[i])
        conflict = InputError(
            placement.model,
            "the module {} would be on two devices: op {} is on {}, op {} on {}; PyTorch places whole "
            "modules, so place with units that keep its ops together (roofline.coarsen, "
            "roofline.contract)",
            quote(module), quote(known->second.op), known->second.device, quote(op.name), placement.device_of_op[i]);
    }
  };
  for (const Reason reason : {Reason::placed, Reason::follows})
    for (std::size_t i = 0; i < placement.graph.ops.size(); ++i) place(i, reason);
  const bool named =
      std::ranges::any_of(modules, [](const auto& each) { return each.first.find('.') != std::string::npos; });
  if (!named)
    throw InputError(placement.model,
                     "no weight and no op has the name of a PyTorch module (\"encoder.layer.0.weight\", "
                     "\"/encoder/layer.0/MatMul\"), so no device_map can be made");
  if (conflict) throw InputError(*conflict);
  // The key "" also places the unnamed ops, so it is used only if they are on this device.
  const Tree root = tree_of(modules, placement.model);
  const auto all = root.common();
  if (all && std::ranges::all_of(devices_of_unnamed, [&](const std::string& device) { return device == *all; }))
    result.device_of_module[""] = *all;
  else
    for (const auto& [name, child] : root.children) child.collect(name, result.device_of_module);
  return result;
}

}  // namespace emplace::deploy
