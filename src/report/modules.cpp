#include "report/modules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <string_view>
#include <tuple>

#include "report/page.hpp"

namespace emplace::report {

namespace {

constexpr std::string_view scope_separators = "/.:";
constexpr int deepest_module = 10;
constexpr std::size_t most_modules = 100'000;  // in the tree; ops of further modules count for the module around them

struct ModuleNode {
  std::string_view path;                          // from the outermost module, without a separator at its end
  std::map<std::string_view, std::uint32_t> own;  // its modules, by the end of their path
  std::vector<std::uint32_t> ops;                 // in none of its modules
  std::vector<std::uint32_t> range;               // of a range of modules: these; it has no other members
  std::bitset<max_devices + 1> devices, devices_of_ops;
  Ticks time = 0;  // of all ops, also those of its modules
  [[nodiscard]] std::size_t parts() const { return devices.count(); }
};

class ModuleTree {
 public:
  ModuleTree(const Problem& problem, std::span<const std::uint8_t> device) : p_(problem), device_(device) {
    for (std::uint32_t op = 0; op < p_.op_count(); ++op) add(op);
  }

  // Divides modules until no other division leaves at most `most` parts.
  void divide(std::size_t most) {
    std::size_t parts = nodes_[0].parts();
    open_ = {0};
    std::vector<std::uint32_t> waiting = {0};
    while (!waiting.empty()) {
      const auto next = std::ranges::max_element(waiting, {}, [&](std::uint32_t node) {
        return std::tuple(nodes_[node].time, ~node);  // of equal ones the first
      });
      const std::uint32_t node = *next;
      waiting.erase(next);
      if (nodes_[node].own.empty()) continue;
      const std::size_t others = parts - nodes_[node].parts();
      std::size_t inside = parts_inside(node);
      if (others + inside > most && others + nodes_[node].devices_of_ops.count() < most) {
        divide_into_ranges(node, most - others - nodes_[node].devices_of_ops.count());
        inside = parts_inside(node);
      }
      if (others + inside > most) continue;
      parts = others + inside;
      std::erase(open_, node);
      if (!nodes_[node].ops.empty()) rest_.push_back(node);
      for (const auto& [name, child] : nodes_[node].own) {
        open_.push_back(child);
        waiting.push_back(child);
      }
    }
  }

  Modules modules() {
    modules_.of_op.resize(p_.op_count());
    for (const std::uint32_t node : open_) {
      std::vector<std::uint32_t> ops;
      collect(node, ops);
      add_parts(name_of(node), std::move(ops));
    }
    for (const std::uint32_t node : rest_) add_parts(name_of(node) + " (its own ops)", nodes_[node].ops);
    return std::move(modules_);
  }

 private:
  // The path of the op's module.
  [[nodiscard]] std::string_view path_of(std::uint32_t op) const {
    if (const std::string_view module = p_.module[op]; !module.empty()) return module;
    const std::string_view name = p_.op_names[op];
    const std::size_t end = name.find_last_of(scope_separators);
    return end == std::string_view::npos ? std::string_view() : name.substr(0, end);
  }

  void add(std::uint32_t op) {
    const std::string_view path = path_of(op);
    const Ticks time = std::max<Ticks>(0, p_.time(OpId{op}, DeviceId{device_[op]}));
    std::uint32_t node = 0;
    std::size_t end = 0;
    count(node, op, time);
    for (int depth = 0; depth < deepest_module; ++depth) {
      const std::size_t begin = path.find_first_not_of(scope_separators, end);
      if (begin == std::string_view::npos) break;
      end = std::min(path.find_first_of(scope_separators, begin), path.size());
      const std::string_view name = path.substr(begin, end - begin);
      auto found = nodes_[node].own.find(name);
      if (found == nodes_[node].own.end()) {
        if (nodes_.size() >= most_modules) break;
        found = nodes_[node].own.emplace(name, static_cast<std::uint32_t>(nodes_.size())).first;
        const std::uint32_t made = found->second;
        nodes_.emplace_back().path = path.substr(0, end);
        node = made;
      } else {
        node = found->second;
      }
      count(node, op, time);
    }
    nodes_[node].ops.push_back(op);
    nodes_[node].devices_of_ops.set(device_[op]);
  }

  void count(std::uint32_t node, std::uint32_t op, Ticks time) {
    nodes_[node].devices.set(device_[op]);
    nodes_[node].time += time;
  }

  // Replaces the modules of a module by ranges of neighbours ("layer/0" to "layer/11"), at least two, the smallest of
  // which all have together at most `most` parts. Leaves them as they are if no ranges are so few.
  void divide_into_ranges(std::uint32_t node, std::size_t most) {
    std::vector<std::uint32_t> children;
    for (const auto& [name, child] : nodes_[node].own) children.push_back(child);
    std::ranges::sort(children);  // by their first op
    for (std::size_t length = 2; 2 * length <= children.size() + 1; length *= 2) {
      std::vector<ModuleNode> ranges;
      std::size_t parts = 0;
      for (std::size_t first = 0; first < children.size(); first += length) {
        const auto end = std::min(first + length, children.size());
        ranges.push_back(range_of(std::span(children).subspan(first, end - first)));
        parts += ranges.back().parts();
      }
      if (parts > most) continue;
      nodes_[node].own.clear();
      for (ModuleNode& range : ranges) {
        const auto number = static_cast<std::uint32_t>(nodes_.size());
        nodes_[node].own.emplace(nodes_[range.range.front()].path, number);
        nodes_.push_back(std::move(range));
      }
      return;
    }
  }

  [[nodiscard]] ModuleNode range_of(std::span<const std::uint32_t> children) const {
    ModuleNode range;
    range.range.assign(children.begin(), children.end());
    for (const std::uint32_t child : children) {
      range.devices |= nodes_[child].devices;
      range.time += nodes_[child].time;
    }
    return range;
  }

  [[nodiscard]] std::size_t parts_inside(std::uint32_t node) const {
    std::size_t parts = nodes_[node].devices_of_ops.count();
    for (const auto& [name, child] : nodes_[node].own) parts += nodes_[child].parts();
    return parts;
  }

  // The ops of the module and of all modules in it.
  void collect(std::uint32_t node, std::vector<std::uint32_t>& ops) const {
    ops.insert(ops.end(), nodes_[node].ops.begin(), nodes_[node].ops.end());
    for (const auto& [name, child] : nodes_[node].own) collect(child, ops);
    for (const std::uint32_t child : nodes_[node].range) collect(child, ops);
  }

  [[nodiscard]] std::string name_of(std::uint32_t node) const {
    const std::vector<std::uint32_t>& range = nodes_[node].range;
    if (range.empty()) return node == 0 ? "all" : page_text(nodes_[node].path, longest_name);
    const std::string_view first = nodes_[range.front()].path, last = nodes_[range.back()].path;
    const std::size_t end = last.find_last_of(scope_separators);
    const std::string_view tail = end == std::string_view::npos ? last : last.substr(end + 1);
    return page_text(range.size() == 1 ? first : fmt::format("{}…{}", first, tail), longest_name);
  }

  // One part for each device.
  void add_parts(const std::string& name, std::vector<std::uint32_t> ops) {
    std::ranges::sort(ops);
    std::map<std::uint8_t, std::uint32_t> part_on;
    for (const std::uint32_t op : ops) {
      const auto [part, is_new] = part_on.emplace(device_[op], static_cast<std::uint32_t>(modules_.count()));
      if (is_new) {
        modules_.members.emplace_back();
        modules_.names.push_back(name);
      }
      modules_.members[part->second].push_back(op);
      modules_.of_op[op] = part->second;
    }
    for (const auto& [device, part] : part_on)  // a part of one op has the name of the op
      if (modules_.members[part].size() == 1)
        modules_.names[part] = page_text(p_.op_names[modules_.members[part].front()], longest_name);
  }

  const Problem& p_;
  const std::span<const std::uint8_t> device_;
  std::vector<ModuleNode> nodes_{1};
  std::vector<std::uint32_t> open_, rest_;  // modules that are drawn whole; divided modules with ops of their own
  Modules modules_;
};

}  // namespace

Modules modules_of(const Problem& problem, std::span<const std::uint8_t> device, std::size_t most) {
  ModuleTree tree(problem, device);
  tree.divide(most);
  return tree.modules();
}

}  // namespace emplace::report
