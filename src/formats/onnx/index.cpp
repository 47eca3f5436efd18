#include "formats/onnx/index.hpp"

#include <unordered_set>

#include "emplace/base/error.hpp"
#include "formats/onnx/load.hpp"
#include "formats/onnx/subgraphs.hpp"

namespace emplace::formats {

namespace {

// Field numbers: onnx.proto.
constexpr std::uint32_t index_graph_field = 7, training_info_field = 20;

}  // namespace

OnnxIndex::OnnxIndex(const std::string& file, google::protobuf::Arena& memory)
    : model(load_onnx_without_weights(file, memory)) {
  const std::unordered_map<std::uint32_t, std::vector<ProtoPlace>*> lists = {
      {1, &nodes}, {5, &initializers}, {11, &inputs}, {12, &outputs}, {13, &value_infos}, {15, &sparse_initializers}};
  ProtoFields in(file, "an ONNX model");
  bool found = false;
  in.each([&](const ProtoPlace& field) {
    if (field.number == index_graph_field && field.has_length) {
      if (found) throw InputError(file, "has its graph in several pieces, which no program writes");
      found = true;
      graph = field;
      in.enter(field, [&] {
        in.each([&](const ProtoPlace& inner) {
          const auto list = lists.find(inner.number);
          (list == lists.end() ? graph_fields : *list->second).push_back(inner);
          if (inner.has_length) in.skip(inner);
        });
      });
      return;
    }
    if (field.number != training_info_field) model_fields.push_back(field);
    if (field.has_length) in.skip(field);
  });
  const onnx::GraphProto& source = model.graph();
  const auto agrees = [](const std::vector<ProtoPlace>& places, int count) {
    return places.size() == static_cast<std::size_t>(count);
  };
  if (!agrees(nodes, source.node_size()) || !agrees(initializers, source.initializer_size()) ||
      !agrees(sparse_initializers, source.sparse_initializer_size()) || !agrees(inputs, source.input_size()) ||
      !agrees(outputs, source.output_size()) || !agrees(value_infos, source.value_info_size()))
    throw InputError(file, "has changed while it was read");

  const auto name = [&](Value::Kind kind, const auto& list, auto&& name_of) {
    for (int i = 0; i < list.size(); ++i)
      values.insert_or_assign(name_of(list.Get(i)), Value{kind, static_cast<std::uint32_t>(i)});
  };
  using enum Value::Kind;
  name(input, source.input(), [](const auto& each) -> const std::string& { return each.name(); });
  name(initializer, source.initializer(), [](const auto& each) -> const std::string& { return each.name(); });
  name(sparse_initializer, source.sparse_initializer(),
       [](const auto& each) -> const std::string& { return each.values().name(); });
  for (int i = 0; i < source.node_size(); ++i)
    for (const std::string& output : source.node(i).output())
      if (!output.empty()) values.insert_or_assign(output, Value{output_of_node, static_cast<std::uint32_t>(i)});
}

std::vector<std::string> OnnxIndex::reads(std::size_t node) const {
  const onnx::NodeProto& proto = model.graph().node(static_cast<int>(node));
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && seen.insert(name).second) names.push_back(name);
  };
  const std::vector<std::string> outside = names_from_outside(proto);
  for (const std::string& name : proto.input()) add(name);
  for (const std::string& name : outside) add(name);
  return names;
}

}  // namespace emplace::formats
