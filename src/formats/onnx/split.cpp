// Splits an ONNX model into models that have some of its nodes each. Field numbers: onnx.proto.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <unordered_set>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/byte_edits.hpp"
#include "formats/onnx/external.hpp"
#include "formats/onnx/index.hpp"
#include "formats/onnx/types.hpp"
#include "formats/writers.hpp"

namespace emplace::formats {

namespace {

constexpr std::uint32_t graph_field = 7, input_field = 11, output_field = 12;

using Kind = OnnxIndex::Value::Kind;

// The types of tensors, as the model states them or else as read_graph has inferred them; "" if the type is unknown.
class Types {
 public:
  Types(const OnnxIndex& index, const Graph& graph) : graph_(graph) {
    const onnx::GraphProto& source = index.model.graph();
    for (const auto* list : {&source.value_info(), &source.output(), &source.input()})
      for (const onnx::ValueInfoProto& info : *list)
        if (info.has_type()) said_[info.name()] = &info;
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) tensors_[graph.tensors[i].name] = i;
  }

  [[nodiscard]] std::string value_info(const std::string& name) const {
    if (const auto said = said_.find(name); said != said_.end()) return said->second->SerializeAsString();
    const auto tensor = tensors_.find(name);
    if (tensor == tensors_.end() || graph_.tensors[tensor->second].dtype == DType::unknown) return "";
    const GraphTensor& known = graph_.tensors[tensor->second];
    onnx::ValueInfoProto info;
    info.set_name(name);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(element_type_of(known.dtype));
    if (known.shape.ranked) {
      type.mutable_shape();
      for (const std::int64_t size : known.shape.dims) {
        auto& dimension = *type.mutable_shape()->add_dim();
        if (size != Shape::unknown_dimension) dimension.set_dim_value(size);
      }
    }
    return info.SerializeAsString();
  }

 private:
  const Graph& graph_;
  std::unordered_map<std::string_view, const onnx::ValueInfoProto*> said_;
  std::unordered_map<std::string_view, std::size_t> tensors_;
};

class Splitter {
 public:
  Splitter(const std::string& model, const OnnxIndex& index, const Graph& graph, std::span<const OnnxPart> parts)
      : model_(model), index_(index), types_(index, graph), parts_(parts) {
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    part_of_.assign(index.nodes.size(), none);
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (const std::uint32_t node : parts[p].nodes) {
        EMPLACE_CHECK(node < part_of_.size() && part_of_[node] == none, "a node is in two parts, or is none");
        part_of_[node] = static_cast<std::uint32_t>(p);
      }
    EMPLACE_CHECK(std::ranges::find(part_of_, none) == part_of_.end(), "a node is in no part");
    find_ends();
  }

  [[nodiscard]] OnnxSplit done() && { return {std::move(ends_), std::move(passes_)}; }

  void write(std::size_t part) const {
    std::vector<Piece> inside;
    const auto take = [&](const ProtoPlace& field) { inside.push_back({field.begin, field.end}); };
    for (const ProtoPlace& field : index_.graph_fields) take(field);
    for (const std::uint32_t node : parts_[part].nodes) take(index_.nodes[node]);
    for (const std::uint32_t weight : needs_[part].initializers) take(index_.initializers[weight]);
    for (const std::uint32_t weight : needs_[part].sparse_initializers) take(index_.sparse_initializers[weight]);
    for (std::size_t i = 0; i < index_.value_infos.size(); ++i)
      if (const auto value = index_.values.find(index_.model.graph().value_info(static_cast<int>(i)).name());
          value != index_.values.end() && value->second.kind == Kind::output_of_node &&
          part_of_[value->second.index] == part)
        take(index_.value_infos[i]);
    for (const std::uint32_t input : needs_[part].weights_as_inputs) take(index_.inputs[input]);
    // Keeps the order of fields of one kind; the order of kinds does not matter.
    std::ranges::sort(inside, {}, &Piece::begin);
    std::string ends;
    for (const std::string& name : ends_[part].inputs) ends += proto_field(input_field, type_of(name, part));
    for (const std::string& name : ends_[part].outputs) ends += proto_field(output_field, type_of(name, part));
    auto length = static_cast<std::uint64_t>(ends.size());
    for (const Piece& piece : inside) length += static_cast<std::uint64_t>(piece.end - piece.begin);

    std::vector<Piece> pieces;
    const auto take_model_fields = [&](bool before) {
      for (const ProtoPlace& field : index_.model_fields)
        if ((field.begin < index_.graph.begin) == before) pieces.push_back({field.begin, field.end});
    };
    take_model_fields(true);
    pieces.push_back({0, 0, proto_varint(graph_field << 3 | 2) + proto_varint(length)});
    pieces.insert(pieces.end(), inside.begin(), inside.end());
    pieces.push_back({0, 0, std::move(ends)});
    take_model_fields(false);
    FileWriter out(parts_[part].file);
    copy_pieces(model_, out, pieces);
    out.finish();
  }

  // Must be called before anything is written; throws InputError for a tensor of unknown type.
  void check_types() const {
    for (std::size_t part = 0; part < parts_.size(); ++part)
      for (const auto* names : {&ends_[part].inputs, &ends_[part].outputs})
        for (const std::string& name : *names) static_cast<void>(type_of(name, part));
  }

 private:
  struct Needs {
    std::vector<std::uint32_t> initializers, sparse_initializers, weights_as_inputs;
  };

  std::string type_of(const std::string& name, std::size_t part) const {
    std::string info = types_.value_info(name);
    if (info.empty())
      throw InputError(model_,
                       "the tensor {} is passed between devices ({}) and has no known type; a part cannot declare it",
                       quote(name), parts_[part].file);
    return info;
  }

  void find_ends() {
    ends_.resize(parts_.size());
    needs_.resize(parts_.size());
    const onnx::GraphProto& source = index_.model.graph();
    std::unordered_set<std::string_view> leaves;  // names that another part reads or that are outputs of the model
    std::unordered_map<std::string_view, std::uint32_t> input_of_weight;
    for (int i = 0; i < source.input_size(); ++i)
      input_of_weight[source.input(i).name()] = static_cast<std::uint32_t>(i);
    for (const auto& output : source.output()) {
      if (!leaves.insert(output.name()).second) continue;
      const auto value = index_.values.find(output.name());
      if (value == index_.values.end())
        throw InputError(model_, "its output {} is not defined in it", quote(output.name()));
      if (value->second.kind != Kind::output_of_node)
        passes_.push_back({output.name(), value->second.kind != Kind::input});
    }
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      std::unordered_set<std::string> seen;
      Needs& needs = needs_[part];
      for (const std::uint32_t node : parts_[part].nodes)
        for (std::string& name : index_.reads(node)) {
          if (!seen.insert(name).second) continue;
          const auto found = index_.values.find(name);
          if (found == index_.values.end())
            throw InputError(model_, "a node reads {}, which is not defined", quote(name));
          const auto& [key, value] = *found;
          switch (value.kind) {
            case Kind::initializer:
            case Kind::sparse_initializer:
              (value.kind == Kind::initializer ? needs.initializers : needs.sparse_initializers).push_back(value.index);
              if (const auto input = input_of_weight.find(name); input != input_of_weight.end())
                needs.weights_as_inputs.push_back(input->second);
              break;
            case Kind::output_of_node:
              if (part_of_[value.index] == part) break;
              leaves.insert(key);
              [[fallthrough]];
            case Kind::input: ends_[part].inputs.push_back(std::move(name)); break;
          }
        }
    }
    for (std::size_t node = 0; node < part_of_.size(); ++node)
      for (const std::string& output : source.node(static_cast<int>(node)).output())
        if (leaves.contains(output)) ends_[part_of_[node]].outputs.push_back(output);
  }

  const std::string& model_;
  const OnnxIndex& index_;
  const Types types_;
  std::span<const OnnxPart> parts_;
  std::vector<std::uint32_t> part_of_;  // per node
  std::vector<OnnxPartEnds> ends_;
  std::vector<OnnxPass> passes_;
  std::vector<Needs> needs_;
};

}  // namespace

OnnxSplit write_onnx_parts(const std::string& model, const Graph& graph, std::span<const OnnxPart> parts,
                           const std::function<bool()>& stop) {
  check_reader(model, "onnx", "an ONNX model");
  google::protobuf::Arena memory;
  const OnnxIndex index(model, memory);
  Splitter splitter(model, index, graph, parts);
  splitter.check_types();
  std::vector<std::string> files;
  for (const OnnxPart& part : parts) {
    std::error_code error;
    if (std::filesystem::equivalent(model, part.file, error))
      throw InputError(part.file, "is the model itself, which a part of it would replace");
    files.push_back(part.file);
  }
  check_weights_stay_beside(model, files);
  std::size_t written = 0;
  try {
    for (; written < parts.size(); ++written) {
      if (stop && stop()) throw WritingStopped("stopped on request");
      splitter.write(written);
    }
  } catch (...) {
    std::error_code ignored;
    for (const std::string& file : std::span(files).first(written)) std::filesystem::remove(file, ignored);
    throw;
  }
  return std::move(splitter).done();
}

}  // namespace emplace::formats
