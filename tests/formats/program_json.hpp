// Programs of torch.export that a test writes down, in the schema of torch/_export/serde/schema.py.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emplace/formats/reader.hpp"
#include "tests/support/zip_text.hpp"

namespace emplace::formats::program {

using Json = nlohmann::json;

// A size is a number, or the name of a symbol, or an expression of SymPy.
inline Json size_of(const Json& size) {
  if (size.is_number()) return {{"as_int", size}};
  const std::string text = size.get<std::string>();
  const bool is_symbol = text.find('(') == std::string::npos;
  return {{"as_expr",
           {{"expr_str", is_symbol ? "Symbol('" + text + "', positive=True, integer=True)" : text},
            {"hint", {{"as_int", 2}}}}}};
}

inline Json sizes(const std::vector<Json>& list) {
  Json result = Json::array();
  for (const Json& size : list) result.push_back(size_of(size));
  return result;
}

// The strides of data in the order of its dimensions.
inline std::vector<Json> in_order(const std::vector<Json>& list) {
  std::vector<Json> strides(list.size());
  std::int64_t next = 1;
  for (std::size_t i = list.size(); i-- > 0;) {
    strides[i] = next;
    if (list[i].is_number()) next *= list[i].get<std::int64_t>();
  }
  return strides;
}

inline Json tensor(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }
inline Json tensors(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back({{"name", name}});
  return {{"as_tensors", list}};
}
inline Json whole(std::int64_t value) { return {{"as_int", value}}; }
inline Json truth(bool value) { return {{"as_bool", value}}; }

inline ReadOptions sized(std::map<std::string, std::vector<std::int64_t>> shapes) {
  ReadOptions options;
  options.shapes = std::move(shapes);
  return options;
}

// A program that grows node by node.
class Program {
 public:
  Json graph = {{"inputs", Json::array()},
                {"outputs", Json::array()},
                {"nodes", Json::array()},
                {"tensor_values", Json::object()},
                {"sym_int_values", Json::object()}};
  Json specs = Json::array();
  Json ranges = Json::object();
  Json storage = Json::object();
  int major = 8;

  // dtype 7 is a 32-bit float, 5 a 64-bit integer.
  Program& value(const std::string& name, const std::vector<Json>& shape, int dtype = 7,
                 const std::vector<Json>& strides = {}) {
    graph["tensor_values"][name] = {{"dtype", dtype},
                                    {"sizes", sizes(shape)},
                                    {"strides", sizes(strides.empty() ? in_order(shape) : strides)},
                                    {"requires_grad", false}};
    return *this;
  }
  Program& input(const std::string& name, const std::vector<Json>& shape, int dtype = 7) {
    specs.push_back({{"user_input", {{"arg", tensor(name)}}}});
    return value(name, shape, dtype);
  }
  // The weight `fqn` ("0.weight") is read under this name; tied weights have the same file.
  Program& weight(const std::string& name, const std::string& fqn, const std::vector<Json>& shape,
                  const std::string& file = "") {
    specs.push_back({{"parameter", {{"arg", {{"name", name}}}, {"parameter_name", fqn}}}});
    storage[fqn] = {{"path_name", file.empty() ? "file of " + fqn : file}};
    return value(name, shape);
  }
  Program& buffer(const std::string& name, const std::string& fqn, const std::vector<Json>& shape, int dtype = 7) {
    specs.push_back({{"buffer", {{"arg", {{"name", name}}}, {"buffer_name", fqn}, {"persistent", true}}}});
    return value(name, shape, dtype);
  }
  // `arguments` are pairs of a name in the operator's schema and an argument.
  Program& node(const std::string& target, const std::string& name,
                const std::vector<std::pair<std::string, Json>>& arguments, const std::vector<Json>& shape,
                const std::string& module = "") {
    value(name, shape);
    return node_giving(target, name, arguments, {tensor(name)}, module);
  }
  Program& node_giving(const std::string& target, const std::string& name,
                       const std::vector<std::pair<std::string, Json>>& arguments, const std::vector<Json>& outputs,
                       const std::string& module = "") {
    Json inputs = Json::array(), metadata = Json::object();
    for (const auto& [key, argument] : arguments) inputs.push_back({{"name", key}, {"arg", argument}, {"kind", 1}});
    if (!module.empty())
      metadata["nn_module_stack"] = "L__self__,,m.Model;L__self__" + module + "," + module + ",torch.nn.Module";
    graph["nodes"].push_back(
        {{"target", target}, {"name", name}, {"inputs", inputs}, {"outputs", outputs}, {"metadata", metadata}});
    return *this;
  }
  [[nodiscard]] Json json() const {
    return {{"graph_module", {{"graph", graph}, {"signature", {{"input_specs", specs}}}}},
            {"range_constraints", ranges},
            {"schema_version", {{"major", major}, {"minor", 0}}},
            {"torch_version", "2.13.0"}};
  }
  // The archive that torch.export.save writes, as far as it is read.
  [[nodiscard]] std::string archive(const test::ZipOptions& options = {}) const {
    return test::zip_text({{"m/models/model.json", json().dump()},
                           {"m/data/weights/model_weights_config.json", Json{{"config", storage}}.dump()},
                           {"m/archive_format", "pt2"}},
                          options);
  }
};

}  // namespace emplace::formats::program
