// Reads TensorFlow.js graph models: model.json holds a GraphDef as JSON (modelTopology) and the weights' shapes
// (weightsManifest); the weights are in other files, of which only small whole numbers are read.
// https://www.tensorflow.org/js/guide/save_load
#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/constant_values.hpp"
#include "formats/json/json.hpp"
#include "formats/tensorflow/graph.hpp"
#include "formats/tensorflow/graphdef.hpp"
#include "formats/utf8.hpp"

namespace emplace::formats {

namespace {

using json::Kind;
using json::Place;
using json::Value;

constexpr std::size_t longest_json_list = 4096;
constexpr std::size_t longest_tfjs_text = 1024;
constexpr std::uint64_t largest_tfjs_file = std::uint64_t{256} << 20;  // the weights are in other files

// Reads a whole number; in protobuf's JSON form, 64-bit numbers are texts.
std::int64_t whole_of(Value value, const Place& place) {
  std::int64_t result = 0;
  if (value.kind() == Kind::text) {
    if (!parse_number(value.text(place), result))
      throw InputError(place.str(), "should be a whole number, found {}", value.describe());
    return result;
  }
  return value.whole(place, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

double real_of(Value value, const Place& place) {
  double result = 0;
  if (value.kind() != Kind::text) return value.number(place);
  if (!parse_number(value.text(place), result))  // "NaN", "Infinity"
    result = 0;
  return result;
}

// Decodes base64: "U0FNRQ==" is "SAME"; "" if the text is no base64 or its content has more than 1 KiB.
std::string bytes_of_base64(std::string_view text) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  std::uint32_t bits = 0;
  int count = 0;
  if (text.size() > 1400) return {};
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((count += 6) >= 8) result += static_cast<char>(bits >> (count -= 8) & 0xFF);
  }
  return result;
}

// Converters write bytes as base64 or as a list: [83, 65, 77, 69] is "SAME". "" for more than 1 KiB.
std::string bytes_attribute(Value value, const Place& place) {
  if (value.kind() != Kind::array) return bytes_of_base64(value.text(place));
  std::string result;
  value.each_element(place, [&](std::size_t i, Value byte) {
    const std::int64_t number = byte.whole(Place(place, i), 0, 255);
    if (result.size() <= longest_tfjs_text) result += static_cast<char>(number);
  });
  return result.size() <= longest_tfjs_text ? result : "";
}

std::string text_attribute(Value value, const Place& place) {
  std::string result = bytes_attribute(value, place);
  return is_utf8(result) ? result : "";
}

// "DT_FLOAT" in attributes, "float32" in the manifest; some writers give the number.
std::int64_t type_of(Value value, const Place& place) {
  static const std::unordered_map<std::string_view, std::string_view> plain = {
      {"float32", "DT_FLOAT"}, {"float16", "DT_HALF"},  {"int32", "DT_INT32"},        {"bool", "DT_BOOL"},
      {"uint8", "DT_UINT8"},   {"int8", "DT_INT8"},     {"uint16", "DT_UINT16"},      {"int16", "DT_INT16"},
      {"int64", "DT_INT64"},   {"string", "DT_STRING"}, {"complex64", "DT_COMPLEX64"}};
  if (value.kind() != Kind::text) return whole_of(value, place);
  const std::string_view name = value.text(place);
  const auto found = plain.find(name);
  const std::int64_t type = tensorflow_type_number(found == plain.end() ? name : found->second);
  if (type < 0) throw InputError(place.str(), "the element type {} is not known", quote(name));
  return type;
}

// {"dim": [{"size": "1"}], "unknownRank": true}
Shape shape_of(Value value, const Place& place) {
  Shape shape = Shape::scalar();
  bool unknown_rank = false;
  value.each_member(place, [&](std::string_view key, Value member) {
    const Place at(place, key);
    if (key == "unknownRank") unknown_rank = member.boolean(at);
    if (key != "dim") return;
    member.each_element(at, [&](std::size_t i, Value dim) {
      const Place dim_place(at, i);
      std::int64_t size = 0;
      dim.each_member(dim_place, [&](std::string_view part, Value number) {
        if (part == "size") size = whole_of(number, {dim_place, part});
      });
      if (i >= 254) throw InputError(at.str(), "a shape has more than 254 dimensions");
      shape.dims.push_back(size);
    });
  });
  return unknown_rank ? Shape() : shape;
}

void read_list(Value value, const Place& place, TfValue& list) {
  list.kind = TfValue::Kind::list;
  value.each_member(place, [&](std::string_view key, Value member) {
    const Place at(place, key);
    if (key != "s" && key != "i" && key != "type" && key != "shape") return;
    member.each_element(at, [&](std::size_t i, Value element) {
      const Place here(at, i);
      if (key == "shape") list.shapes.push_back(shape_of(element, here));
      if (i > longest_json_list) return;
      if (key == "s") list.texts.push_back(text_attribute(element, here));
      if (key == "i") list.wholes.push_back(whole_of(element, here));
      if (key == "type") list.types.push_back(type_of(element, here));
    });
  });
}

// The value of a constant that the node itself holds, if it is one of those that shapes may follow from. One number
// stands for all.
void read_tensor(Value value, const Place& place, TfValue& tensor) {
  tensor.kind = TfValue::Kind::tensor;
  tensor.shape = Shape::scalar();
  std::string content;
  value.each_member(place, [&](std::string_view key, Value member) {
    const Place at(place, key);
    if (key == "dtype") tensor.type = type_of(member, at);
    if (key == "tensorShape") tensor.shape = shape_of(member, at);
    const bool is_list = member.kind() == json::Kind::array;
    if (key == "tensorContent" && (is_list || member.kind() == json::Kind::text)) content = bytes_attribute(member, at);
    if ((key == "intVal" || key == "int64Val") && is_list)
      member.each_element(at, [&](std::size_t i, Value number) {
        if (i <= most_constant_numbers) tensor.wholes.push_back(whole_of(number, {at, i}));
      });
  });
  keep_small_wholes(tensor, content);
}

TfValue read_attribute(Value value, const Place& place) {
  TfValue result;
  value.each_member(place, [&](std::string_view key, Value member) {
    const Place at(place, key);
    using K = TfValue::Kind;
    if (key == "s") result.kind = K::text, result.text = text_attribute(member, at);
    if (key == "i") result.kind = K::whole, result.whole = whole_of(member, at);
    if (key == "f") result.kind = K::real, result.real = real_of(member, at);
    if (key == "b") result.kind = K::boolean, result.whole = member.boolean(at) ? 1 : 0;
    if (key == "type") result.kind = K::type, result.type = type_of(member, at);
    if (key == "shape") result.kind = K::shape, result.shape = shape_of(member, at);
    if (key == "list") read_list(member, at, result);
    if (key == "tensor") read_tensor(member, at, result);
  });
  return result;
}

TfNode read_node(Value value, const Place& place) {
  TfNode node;
  value.each_member(place, [&](std::string_view key, Value member) {
    const Place at(place, key);
    if (key == "name") node.name = member.text(at);
    if (key == "op") node.op = member.text(at);
    if (key == "device") node.device = member.text(at);
    if (key == "input")
      member.each_element(at, [&](std::size_t i, Value input) { node.inputs.emplace_back(input.text({at, i})); });
    if (key == "attr")
      member.each_member(at, [&](std::string_view name, Value attribute) {
        node.attributes.emplace_back(name, read_attribute(attribute, {at, name}));
      });
  });
  return node;
}

using Weights = std::unordered_map<std::string, TfValue>;

// Calls visit(element, place) for the elements of `list` in every group of the weightsManifest.
template <class Visit>
void each_of_manifest(Value manifest, const Place& place, std::string_view list, Visit&& visit) {
  manifest.each_element(place, [&](std::size_t i, Value group) {
    const Place group_place(place, i);
    group.each_member(group_place, [&](std::string_view key, Value elements) {
      const Place list_place(group_place, key);
      if (key != list) return;
      elements.each_element(list_place, [&](std::size_t j, Value element) { visit(element, Place(list_place, j)); });
    });
  });
}

Weights read_manifest(Value manifest, const Place& place) {
  Weights weights;
  each_of_manifest(manifest, place, "weights", [&](Value entry, const Place& at) {
    std::string name;
    TfValue weight;
    weight.kind = TfValue::Kind::tensor;
    entry.each_member(at, [&](std::string_view field, Value member) {
      const Place here(at, field);
      if (field == "name") name = member.text(here);
      if (field == "dtype") weight.type = type_of(member, here);
      if (field != "shape") return;
      weight.shape = Shape::scalar();
      member.each_element(here, [&](std::size_t k, Value size) {
        weight.shape.dims.push_back(size.whole({here, k}, 0, total_limit));
      });
    });
    if (name.empty() || !weight.shape.ranked) throw InputError(at.str(), "a weight needs a name and a shape");
    if (!weights.emplace(name, std::move(weight)).second)
      throw InputError(at.str(), "the weight {} is listed twice", quote(name));
  });
  return weights;
}

using Values = std::unordered_map<std::string, std::vector<std::int64_t>>;

// One entry of a group: its bytes follow those of the entries before it.
struct StoredWeight {
  std::string name;
  std::int64_t type = 0;
  Shape shape = Shape::scalar();
  DType stored = DType::unknown;  // the type in the files if it is quantised

  [[nodiscard]] DType dtype(const std::string& file) const { return dtype_of_tensorflow(type, file); }
  // -1: not known, as for texts.
  [[nodiscard]] std::int64_t bytes(const std::string& file) const {
    const std::int64_t width = bytes_of(stored == DType::unknown ? dtype(file) : stored);
    const auto elements = shape.elements();
    return width == 0 || !elements || *elements > total_limit / width ? -1 : *elements * width;
  }
};

StoredWeight stored_weight(Value entry, const Place& place) {
  StoredWeight weight;
  entry.each_member(place, [&](std::string_view field, Value member) {
    const Place here(place, field);
    if (field == "name") weight.name = member.text(here);
    if (field == "dtype") weight.type = type_of(member, here);
    if (field == "shape")
      member.each_element(here, [&](std::size_t k, Value size) {
        weight.shape.dims.push_back(size.whole({here, k}, 0, total_limit));
      });
    if (field == "quantization")
      member.each_member(here, [&](std::string_view key, Value type) {
        if (key == "dtype") weight.stored = dtype_of_tensorflow(type_of(type, {here, key}), here.str());
      });
  });
  return weight;
}

// Whether the file is in the model's folder or below it.
bool is_inside(const std::filesystem::path& path) {
  return path.is_relative() && std::ranges::none_of(path, [](const auto& part) { return part == ".."; });
}

// The values of small constants of whole numbers, from those groups whose files are all there.
Values read_values(Value manifest, const Place& place, const std::string& file) {
  Values values;
  manifest.each_element(place, [&](std::size_t i, Value group) {
    const Place group_place(place, i);
    std::vector<std::string> paths;
    std::vector<StoredWeight> weights;
    bool inside = true;
    group.each_member(group_place, [&](std::string_view key, Value list) {
      const Place at(group_place, key);
      if (key == "weights")
        list.each_element(at, [&](std::size_t j, Value entry) { weights.push_back(stored_weight(entry, {at, j})); });
      if (key == "paths")
        list.each_element(at, [&](std::size_t j, Value path) {
          const std::string name(path.text({at, j}));
          inside = inside && is_inside(name);
          paths.push_back(parent_folder(file) + "/" + name);
        });
    });
    if (!inside) return;
    WeightFiles files(std::move(paths));
    std::int64_t offset = 0;
    for (const StoredWeight& weight : weights) {
      if (weight.stored == DType::unknown)
        if (auto value = files.wholes(offset, weight.dtype(file), weight.shape, weight.name))
          values.emplace(weight.name, *std::move(value));
      const std::int64_t bytes = weight.bytes(file);
      if (bytes < 0 || bytes > total_limit - offset) return;  // where the others begin is not known
      offset += bytes;
    }
  });
  return values;
}

// Gives a constant the shape in the manifest if the node itself has none; if both have one, they must be equal.
void complete_constant(TfNode& node, const Weights& weights, const std::string& file) {
  const auto weight = weights.find(node.name);
  if (node.op != "Const" || weight == weights.end()) return;
  const TfValue* value = node.find("value");
  if (value == nullptr || value->kind != TfValue::Kind::tensor) {
    node.attributes.emplace_back("value", weight->second);
  } else if (value->shape != weight->second.shape) {
    throw InputError(file, "the constant {} has the shape {}, and {} in weightsManifest", quote(node.name),
                     value->shape.str(), weight->second.shape.str());
  }
}

// The value of a small constant that is in the weights' files.
void state_value(TfNode& node, const Values& values) {
  const auto known = node.op == "Const" ? values.find(node.name) : values.end();
  if (known == values.end()) return;
  for (auto& [name, value] : node.attributes)
    if (name == "value") value.wholes = known->second;
}

Graph read_tfjs(const std::string& path, const ReadOptions& options) {
  const std::string text = read_file(path, largest_tfjs_file);
  const json::Document document = json::parse(text, path);
  const Place place(path);
  std::optional<Value> nodes;
  Weights weights;
  Values values;
  bool has_topology = false;
  document.root().each_member(place, [&](std::string_view key, Value value) {
    const Place at(place, key);
    if (key == "weightsManifest") {
      weights = read_manifest(value, at);
      values = read_values(value, at, path);
    }
    if (key != "modelTopology") return;
    has_topology = true;
    value.each_member(at, [&](std::string_view part, Value member) {
      if (part == "node") nodes = member;
    });
  });
  if (!has_topology) throw InputError(path, "is no TensorFlow.js model: it has no modelTopology");
  if (!nodes)
    throw InputError(path,
                     "modelTopology has no nodes; a layers model (Keras) must be converted to a graph model first");
  GraphFromTensorflow graph(path, options);
  const Place topology(place, "modelTopology"), node_place(topology, "node");
  nodes->each_element(node_place, [&](std::size_t i, Value value) {
    TfNode node = read_node(value, {node_place, i});
    complete_constant(node, weights, path);
    state_value(node, values);
    graph.add(std::move(node));
  });
  Graph result = graph.finish();
  result.name = path.substr(path.find_last_of('/') + 1);
  return result;
}

std::vector<std::string> weights_beside(const std::string& path) {
  const std::string text = read_file(path, largest_tfjs_file);
  const json::Document document = json::parse(text, path);
  const Place place(path);
  std::vector<std::string> files;
  document.root().each_member(place, [&](std::string_view key, Value manifest) {
    if (key == "weightsManifest")
      each_of_manifest(manifest, {place, key}, "paths", [&](Value file, const Place& at) {
        files.push_back(fmt::format("{}/{}", parent_folder(path), file.text(at)));
      });
  });
  return files;
}

}  // namespace

ReaderEntry tfjs_reader() {
  ReaderEntry entry;
  entry.name = "tfjs";
  entry.summary = "TensorFlow.js graph models (model.json); the weights' files may be missing.";
  entry.reference = "TensorFlow.js model.json, graph-model format";
  entry.recognises = [](const std::string& path, std::string_view head) {
    const std::size_t start = head.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || head[start] != '{') return false;
    for (const char* key : {"\"modelTopology\"", "\"graph-model\"", "\"layers-model\"", "\"weightsManifest\""})
      if (head.find(key) != std::string_view::npos) return true;
    return path.ends_with("model.json");
  };
  entry.read = read_tfjs;
  entry.weights_beside = weights_beside;
  return entry;
}

}  // namespace emplace::formats
