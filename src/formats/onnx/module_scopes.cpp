#include "formats/onnx/module_scopes.hpp"

#include <onnx/onnx_pb.h>

#include <string_view>

#include "emplace/formats/reader.hpp"
#include "formats/proto/fields.hpp"

namespace emplace::formats {

namespace {

constexpr std::uint32_t model_graph = 7, graph_node = 1, node_metadata = 9;  // field numbers of onnx.proto

// "layers.0.q" of "['', 'layers.0', 'layers.0.q', 'linear_1']", a list as Python prints it: the last text is the node,
// the one before it the innermost module.
std::string innermost_module(std::string_view list) {
  std::string_view module, node;
  for (std::size_t at = list.find('\''); at != std::string_view::npos; at = list.find('\'', at)) {
    const std::size_t end = list.find('\'', at + 1);
    if (end == std::string_view::npos) return {};
    module = node;
    node = list.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  return std::string(module);
}

}  // namespace

std::vector<std::string> read_onnx_modules(const std::string& model) {
  check_reader(model, "onnx", "an ONNX model");
  ProtoFields in(model, "an ONNX model");
  std::vector<std::string> modules;
  const auto read_node = [&] {
    std::string& module = modules.emplace_back();
    in.each([&](const ProtoPlace& field) {
      if (!field.has_length) return;
      onnx::StringStringEntryProto entry;
      if (field.number != node_metadata) return in.skip(field);
      if (entry.ParseFromString(in.read(field)) && entry.key() == "pkg.torch.onnx.name_scopes")
        module = innermost_module(entry.value());
    });
  };
  // Enters the fields of the current message that have this number.
  const auto each_of = [&](std::uint32_t number, const auto& read) {
    in.each([&](const ProtoPlace& field) {
      if (!field.has_length) return;
      if (field.number == number)
        in.enter(field, read);
      else
        in.skip(field);
    });
  };
  each_of(model_graph, [&] { each_of(graph_node, read_node); });
  return modules;
}

}  // namespace emplace::formats
