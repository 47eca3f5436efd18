// https://graphviz.org/doc/info/lang.html
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/utf8.hpp"
#include "formats/writers.hpp"
#include "graph/ops/op_table.hpp"

namespace emplace::formats {

namespace {

// ColorBrewer's Set3 (Brewer 2002): light enough for black text.
constexpr std::array palette = {"#8dd3c7", "#fdb462", "#80b1d3", "#b3de69", "#fb8072", "#bebada",
                                "#fccde5", "#ffed6f", "#bc80bd", "#ccebc5", "#d9d9d9", "#ffffb3"};
constexpr const char* unplaced_color = "#f5f5f5";
constexpr std::size_t longest_label = 40;

struct Group {
  const char* name;
  const char* color;
};
Group group_of(OpClass cls) {
  switch (cls) {
    case OpClass::matmul:
    case OpClass::convolution:
    case OpClass::depthwise:
    case OpClass::recurrent: return {"products and convolutions", palette[2]};
    case OpClass::elementwise: return {"element-wise", palette[9]};
    case OpClass::normalisation:
    case OpClass::reduction:
    case OpClass::pooling: return {"normalisation, reduction, pooling", palette[1]};
    case OpClass::movement:
    case OpClass::embedding: return {"movement, embedding", palette[7]};
    case OpClass::update: return {"updates", palette[5]};
    case OpClass::free: return {"no work", unplaced_color};
    case OpClass::other: return {"other", palette[4]};
  }
  return {"other", palette[4]};
}

// The text as it is written between the quotes of a DOT text. Names come from files, so control characters and invalid
// UTF-8 are replaced.
std::string escaped(std::string_view text) {
  const bool utf8 = is_utf8(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    out += byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !utf8) ? '?' : c;
  }
  return out;
}

// Keeps the end of a long name, which is its most specific part.
std::string shortened(const std::string& name) {
  if (name.size() <= longest_label) return name;
  std::size_t from = name.size() - longest_label + 3;
  while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0) == 0x80) ++from;  // whole characters
  return "..." + name.substr(from);
}

// The escaped text for use inside an HTML-like label.
std::string html(std::string_view text) {
  std::string out;
  for (const char c : escaped(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '\\': break;
      default: out += c;
    }
  }
  return out;
}

// The op's type; for a merged op the types of its members if there are few, else the number of members.
std::string type_of(const GraphOp& op) {
  if (op.merged_types.empty()) return op.type;
  constexpr std::size_t few = 3;
  std::vector<std::string> types;
  std::size_t ops = 0;
  for (const auto& [name, count] : op.merged_types) {
    types.push_back(count > 1 ? fmt::format("{} x{}", name, count) : name);
    ops += count;
  }
  return types.size() <= few ? join(types, " + ") : fmt::format("{}: {} ops", op.type, ops);
}

class DotWriter {
 public:
  DotWriter(const Graph& graph, const DotOptions& options) : graph_(graph), options_(options) {
    EMPLACE_CHECK(options.device_of_op.empty() || options.device_of_op.size() == graph.ops.size());
    if (options_.clusters == DotOptions::Clusters::automatic) {
      const bool layers = std::any_of(graph.ops.begin(), graph.ops.end(), [](auto& op) { return !op.layer.empty(); });
      options_.clusters = layers ? DotOptions::Clusters::layer : DotOptions::Clusters::colocation;
    }
    for (const std::string& device : options_.device_of_op)
      if (!device.empty()) color_of_device_.emplace(device, "");
    std::size_t next = 0;
    for (auto& [device, color] : color_of_device_) color = palette[next++ % palette.size()];
  }

  std::string write() {
    line("digraph \"{}\" {{", escaped(graph_.name));
    line("  graph [fontname=\"Helvetica\", fontsize=11, ranksep=0.35, nodesep=0.25];");
    line(
        "  node [shape=box, style=\"rounded,filled\", color=\"#666666\", fontname=\"Helvetica\", fontsize=10, "
        "height=0.3, margin=\"0.12,0.05\"];");
    line("  edge [color=\"#888888\", fontcolor=\"#888888\", fontname=\"Helvetica\", fontsize=8, arrowsize=0.6];");
    write_inputs();
    write_ops();
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) write_edges_to(i);
    write_legend();
    return std::move(out_) + "}\n";
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void write_inputs() {
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i)
      if (const GraphTensor& tensor = graph_.tensors[i]; tensor.producer.is_none() && !tensor.consumers.empty())
        line("  in{} [shape=ellipse, fillcolor=\"#ffffff\", label=\"{}\", tooltip=\"{}\"];", i,
             escaped(shortened(tensor.name)), escaped(fmt::format("{} {}", tensor.name, tensor.shape.str())));
  }

  [[nodiscard]] const std::string& cluster_of(const GraphOp& op) const {
    static const std::string none;
    if (options_.clusters == DotOptions::Clusters::none) return none;
    return options_.clusters == DotOptions::Clusters::layer ? op.layer : op.colocate;
  }

  void write_ops() {
    std::vector<std::vector<std::size_t>> members;
    std::vector<std::string_view> names;
    std::map<std::string_view, std::size_t> number;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const std::string& cluster = cluster_of(graph_.ops[i]);
      if (cluster.empty()) continue;
      const auto [at, is_new] = number.try_emplace(cluster, names.size());
      if (is_new) {
        names.push_back(cluster);
        members.emplace_back();
      }
      members[at->second].push_back(i);
    }
    for (std::size_t c = 0; c < names.size(); ++c) {
      line("  subgraph cluster_{} {{", c);
      line("    label=\"{}\"; style=\"rounded\"; color=\"#bbbbbb\"; fontcolor=\"#555555\";", escaped(names[c]));
      for (const std::size_t op : members[c]) write_op(op, "    ");
      line("  }}");
    }
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (cluster_of(graph_.ops[i]).empty()) write_op(i, "  ");
  }

  void write_op(std::size_t i, const char* indent) {
    const GraphOp& op = graph_.ops[i];
    const OpCost cost = cost_of(graph_, OpId{i});
    const std::string type = type_of(op);
    std::string tip = fmt::format("{}: {}, {} FLOPs, {} read, {} written, {} resident", op.name, op.type,
                                  human_count(cost.flops), human_bytes(cost.bytes_read),
                                  human_bytes(cost.bytes_written), human_bytes(resident_bytes(graph_, OpId{i})));
    const char* color = group_of(cost.cls).color;
    if (!options_.device_of_op.empty()) {
      const std::string& device = options_.device_of_op[i];
      color = device.empty() ? unplaced_color : color_of_device_.at(device);
      tip += device.empty() ? ", not placed" : ", on " + device;
    }
    ++ops_of_color_[color];
    line("{}n{} [label=\"{}\\n{}\", fillcolor=\"{}\", tooltip=\"{}\"];", indent, i, escaped(type),
         escaped(shortened(op.name)), color, escaped(tip));
  }

  // Writes one arrow from each producer, labelled with the shape of the tensor, or the number of tensors if several.
  void write_edges_to(std::size_t i) {
    const GraphOp& op = graph_.ops[i];
    std::map<std::string, std::vector<std::uint32_t>> tensors_from;
    for (const Operand& input : op.inputs) {
      if (!input.is_tensor()) continue;
      const OpId producer = graph_.tensors[input.index].producer;
      auto& list =
          tensors_from[producer.is_none() ? fmt::format("in{}", input.index) : fmt::format("n{}", producer.value)];
      if (std::find(list.begin(), list.end(), input.index) == list.end()) list.push_back(input.index);
    }
    for (const auto& [from, tensors] : tensors_from)
      line("  {} -> n{} [label=\" {}\"];", from, i,
           tensors.size() == 1 ? graph_.tensors[tensors[0]].shape.str() : fmt::format("{} tensors", tensors.size()));
    for (const OpId before : op.after)
      if (!tensors_from.contains(fmt::format("n{}", before.value)))
        line("  n{} -> n{} [style=dashed];", before.value, i);
  }

  void write_legend() {
    std::vector<std::pair<std::string, std::string>> entries;  // text, colour
    if (options_.device_of_op.empty()) {
      for (const OpClass cls : op_classes()) {
        const auto [name, color] = group_of(cls);
        if (ops_of_color_.contains(color) && (entries.empty() || entries.back().second != color))
          entries.emplace_back(name, color);
      }
    } else {
      for (const auto& [device, color] : color_of_device_) {
        const auto count = std::count(options_.device_of_op.begin(), options_.device_of_op.end(), device);
        entries.emplace_back(fmt::format("{}: {} {}", device, count, count == 1 ? "op" : "ops"), color);
      }
      const auto count = std::count(options_.device_of_op.begin(), options_.device_of_op.end(), "");
      if (count > 0)
        entries.emplace_back(fmt::format("not placed: {} {}", count, count == 1 ? "op" : "ops"), unplaced_color);
    }
    if (entries.empty()) return;
    out_ += "  legend [shape=plaintext, style=\"\", label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"2\">";
    for (const auto& [text, color] : entries)
      fmt::format_to(std::back_inserter(out_), "<tr><td align=\"left\" bgcolor=\"{}\">{}</td></tr>", color, html(text));
    out_ += "</table>>];\n";
  }

  const Graph& graph_;
  DotOptions options_;
  std::map<std::string, const char*> color_of_device_;
  std::map<std::string_view, std::size_t> ops_of_color_;
  std::string out_;
};

}  // namespace

std::string write_dot(const Graph& graph, const DotOptions& options) { return DotWriter(graph, options).write(); }

}  // namespace emplace::formats
