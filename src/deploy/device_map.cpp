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

constexpr std::size_t deepest_module = 64;

// A path of attributes. Elements of a list are numbers, but the first part is never one.
bool is_path(const std::vector<std::string>& parts) {
  return parts.size() <= deepest_module && std::ranges::all_of(parts, is_identifier) &&
         std::isdigit(static_cast<unsigned char>(parts.front().front())) == 0;
}

// PaddlePaddle numbers the weights of each kind of layer, "conv2d_0.w_0" and "conv2d_0.b_0", and its exporter begins
// other names with "p2o.": no part of such a name is a module of a PyTorch model.
bool is_paddle_name(std::string_view name) {
  if (name.starts_with("p2o.")) return true;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.size() < dot + 4) return false;
  const std::string_view last = name.substr(dot + 1);
  return (last.starts_with("w_") || last.starts_with("b_")) &&
         std::ranges::all_of(last.substr(2), [](unsigned char c) { return std::isdigit(c) != 0; });
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
  if (parts.size() < 2 || parts.size() > deepest_module + 1) return {};
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
  if (static_cast<std::size_t>(std::ranges::count(module, '.')) >= deepest_module) return {};
  return module;
}

// The modules of an op that is placed.
struct OpModules {
  std::vector<std::string> of_weights;
  std::optional<std::string> of_scope;
  bool has_weights = false;
  bool show_modules = false;  // a scope, or a weight with a dot in its name, is not by chance
  std::string of_paddle;      // a weight with a name of PaddlePaddle; "": none
};

// `in_file`: the module that the file names for the op, or "".
OpModules modules_of(const GraphOp& op, const std::string& in_file, const Graph& pruned, OpId now) {
  OpModules modules;
  const bool is_in_file = is_path(split(in_file, '.'));
  modules.of_scope = is_in_file ? std::optional(in_file) : module_of_scope(op.name);
  for (const Operand& input : now.is_none() ? std::vector<Operand>() : pruned.ops[now.index()].inputs) {
    if (!input.is_parameter() || !pruned.parameters[input.index].trainable) continue;
    const std::string& name = pruned.parameters[input.index].name;
    modules.has_weights = true;
    if (is_in_file) continue;
    if (is_paddle_name(name)) {
      if (modules.of_paddle.empty()) modules.of_paddle = name;
      continue;
    }
    if (auto module = module_of_weight(name)) {
      modules.show_modules |= name.find('.') != std::string::npos;
      modules.of_weights.push_back(*std::move(module));
    }
  }
  if (modules.has_weights && modules.of_weights.empty() && modules.of_scope) {
    modules.show_modules = true;
    modules.of_weights.push_back(*modules.of_scope);
  }
  return modules;
}

[[noreturn]] void refuse_without_modules(const std::string& model, const std::string& of_paddle) {
  constexpr std::string_view instead = "--for onnx, openvino and tensorflow place a model in the format of its file";
  if (!of_paddle.empty())
    throw InputError(model,
                     "its weights have the names that PaddlePaddle gives them ({}), which are no modules of a PyTorch "
                     "model, so no device_map can be made; {}",
                     quote(of_paddle), instead);
  throw InputError(model,
                   "no weight and no op has the name of a PyTorch module (\"encoder.layer.0.weight\", "
                   "\"/encoder/layer.0/MatMul\"), so no device_map can be made; {}",
                   instead);
}

// The tree of module names. A module whose parts are all on one device replaces them in the map.
struct Tree {
  std::map<std::string, Tree> children;
  std::vector<OpId> ops;              // the module's own
  std::optional<std::string> device;  // of its own ops, if it is the same for all

  // The device of all its parts, if it is the same for all.
  [[nodiscard]] std::optional<std::string> common() const {
    if (!ops.empty() && !device) return {};
    std::optional<std::string> found = device;
    for (const auto& [name, child] : children) {
      const auto of_child = child.common();
      if (!of_child || (found && *found != *of_child)) return {};
      found = of_child;
    }
    return found;
  }

  void collect(const std::string& path, DeviceMap& result) const {
    if (const auto all = common()) {
      result.device_of_module[path] = *all;
      return;
    }
    if (!ops.empty()) result.split_modules[path] = ops;
    for (const auto& [name, child] : children) child.collect(path + "." + name, result);
  }
};

using Modules = std::map<std::string, std::vector<OpId>>;

Tree tree_of(const Modules& modules, const std::vector<std::string>& device_of_op) {
  Tree root;
  for (const auto& [path, ops] : modules) {
    Tree* at = &root;
    for (const std::string& part : split(path, '.')) at = &at->children[part];
    at->ops = ops;
    const std::string& first = device_of_op[ops.front().index()];
    if (std::ranges::all_of(ops, [&](OpId op) { return device_of_op[op.index()] == first; })) at->device = first;
  }
  return root;
}

// The device that the map gives to the module, by its own key or by that of a module around it; none if there is none.
std::optional<std::string> device_in(const std::map<std::string, std::string>& map, std::string module) {
  while (true) {
    if (const auto found = map.find(module); found != map.end()) return found->second;
    if (module.empty()) return {};
    const std::size_t dot = module.rfind('.');
    module.resize(dot == std::string::npos ? 0 : dot);
  }
}

// The ops of the model by how they are placed.
struct SortedOps {
  Modules of_modules;  // ops that read weights of a module, in their order
  Modules
      of_arithmetic;  // the first op that computes with weights of a module and is folded away: it follows its reader
  std::vector<OpId> without_weights;
  std::set<std::string> devices_of_unnamed;  // of ops whose weights have no module
  bool named = false;                        // some op shows that names are those of modules
  std::string of_paddle;                     // a weight with a name of PaddlePaddle; "": none
};

// Adds op `i`, and counts or lists it in `result`.
void sort_in(SortedOps& sorted, const ModelPlacement& placement, std::size_t i, const OpModules& of_op,
             DeviceMap& result) {
  if (placement.reason_of_op[i] == ModelPlacement::Reason::follows) {
    sorted.named |= of_op.show_modules;
    for (const std::string& module : of_op.of_weights)
      sorted.of_arithmetic.try_emplace(module, Modules::mapped_type{OpId{i}});
  }
  if (placement.reason_of_op[i] != ModelPlacement::Reason::placed) return;
  sorted.named |= of_op.show_modules;
  if (!of_op.has_weights) {
    sorted.without_weights.emplace_back(i);
  } else if (of_op.of_weights.empty()) {
    result.unnamed.push_back(placement.graph.ops[i].name);
    sorted.devices_of_unnamed.insert(placement.device_of_op[i]);
  } else {
    ++result.ops;
    for (const std::string& module : of_op.of_weights)
      if (std::vector<OpId>& own = sorted.of_modules[module]; own.empty() || own.back() != OpId{i}) own.emplace_back(i);
  }
}

SortedOps sort_ops(const ModelPlacement& placement, const std::vector<std::string>& modules_in_file,
                   DeviceMap& result) {
  const PassResult pruned = prune(placement.graph);  // weights that pass through Identity nodes get their names
  const std::vector<GraphOp>& ops = placement.graph.ops;
  SortedOps sorted;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpModules of_op = modules_of(ops[i], i < modules_in_file.size() ? modules_in_file[i] : std::string(),
                                       pruned.graph, pruned.became[i]);
    result.module_of_op.push_back(of_op.of_scope             ? *of_op.of_scope
                                  : of_op.of_weights.empty() ? ""
                                                             : of_op.of_weights.front());
    if (sorted.of_paddle.empty()) sorted.of_paddle = of_op.of_paddle;
    if (!pruned.became[i].is_none()) sort_in(sorted, placement, i, of_op, result);
  }
  return sorted;
}

// Adds ops without weights to the module of their scope; returns those of which no op reads weights of that module.
std::vector<OpId> join_modules(SortedOps& sorted, DeviceMap& result) {
  std::vector<OpId> followers;
  for (const OpId op : sorted.without_weights) {
    const auto module = sorted.of_modules.find(result.module_of_op[op.index()]);
    (module == sorted.of_modules.end() ? followers : module->second).push_back(op);
    if (module != sorted.of_modules.end()) ++result.ops;
  }
  // Arithmetic places only modules that no placed op has weights of.
  for (const auto& [module, op] : sorted.of_arithmetic)
    if (sorted.of_modules.try_emplace(module, op).second) ++result.ops;
  for (auto& [module, own] : sorted.of_modules) std::ranges::sort(own, {}, &OpId::value);
  return followers;
}

}  // namespace

DeviceMap device_map(const ModelPlacement& placement, const std::vector<std::string>& modules_in_file) {
  DeviceMap result;
  SortedOps sorted = sort_ops(placement, modules_in_file, result);
  if (!sorted.named) refuse_without_modules(placement.model, sorted.of_paddle);
  const std::vector<OpId> followers = join_modules(sorted, result);

  // The key "" also places the unnamed ops, so it is used only if they are on this device.
  const Tree root = tree_of(sorted.of_modules, placement.device_of_op);
  const auto all = root.common();
  if (all && std::ranges::all_of(sorted.devices_of_unnamed, [&](const std::string& device) { return device == *all; }))
    result.device_of_module[""] = *all;
  else
    for (const auto& [name, child] : root.children) child.collect(name, result);
  for (const OpId op : followers) {
    result.followers.push_back(placement.graph.ops[op.index()].name);
    const auto device = device_in(result.device_of_module, result.module_of_op[op.index()]);
    if (device && *device != placement.device_of_op[op.index()])
      result.elsewhere.push_back(placement.graph.ops[op.index()].name);
  }
  return result;
}

}  // namespace emplace::deploy
