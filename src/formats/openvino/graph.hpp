// Builds a graph from the layers of an OpenVINO IR.
#pragma once

#include <cstdint>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/name_table.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/constant_values.hpp"
#include "formats/memory_budget.hpp"

namespace emplace::formats {

class GraphFromIr {
 public:
  // `net` is the root element; its document and the other two arguments must outlive this object.
  GraphFromIr(const pugi::xml_node& net, const std::string& file, const ReadOptions& options)
      : net_(net), file_(file), options_(options), weights_({weights_of(file)}) {}

  // The file with the weights of the IR in `file`.
  static std::string weights_of(const std::string& file);

  // Makes one op for each layer. InputError for broken layers, ports, edges and sizes, for cycles, for sizes given for
  // inputs that do not exist, and if the graph would need more than 4 GiB.
  Graph build();

 private:
  using Ports = std::vector<std::pair<std::string_view, std::size_t>>;  // id and position, sorted
  struct Layer {
    std::string_view id;
    Ports inputs, outputs;
    DType precision = DType::unknown;  // element type of the whole layer in IR 6
  };

  [[nodiscard]] std::string place(std::size_t layer) const;  // "file: layer 'conv1'"
  [[nodiscard]] auto id_at() const {
    return [this](std::uint32_t layer) { return layers_[layer].id; };
  }
  static void sort_ports(Ports& ports, const char* what, const std::string& where);
  [[nodiscard]] std::string text_of(const pugi::xml_node& node, const char* attribute, const std::string& where) const;
  void add_layer(const pugi::xml_node& node);
  [[nodiscard]] Shape shape_of(const pugi::xml_node& port, const std::string& where) const;
  [[nodiscard]] std::pair<std::size_t, std::size_t> end_of(const pugi::xml_node& edge, const char* layer_key,
                                                           const char* port_key, bool is_input) const;
  void add_edge(const pugi::xml_node& edge);
  void check_inputs() const;  // that each input port has an edge
  void put_in_order(GraphOp& op, const pugi::xml_node& node);
  void fix_input(const std::string& name, const pugi::xml_node& port, Shape& shape);
  void check_options() const;

  // In weights.cpp.
  [[nodiscard]] Shape shape_of(std::string_view text, const std::string& where) const;
  [[nodiscard]] std::int64_t bytes_of_data(const pugi::xml_node& node, const std::string& where) const;
  Operand add_parameter(const std::string& name, DType dtype, Shape shape, bool trainable);
  void add_constant(std::size_t layer, const pugi::xml_node& data);
  void add_blobs(std::size_t layer, const pugi::xml_node& node);
  [[nodiscard]] Shape convolution_weights(std::size_t layer, const pugi::xml_node& data) const;
  void add_weights_inside(std::size_t layer, const pugi::xml_node& node, int depth);

  const pugi::xml_node net_;
  const std::string& file_;
  const ReadOptions& options_;
  Graph graph_;
  std::vector<Layer> layers_;
  std::vector<Shape> stated_;  // per tensor, before inputs are fixed
  NameTable ids_;              // of the layers
  std::unordered_set<std::string> parameter_names_, used_shapes_;
  std::vector<std::string> input_names_;
  std::size_t bodies_ = 0;
  MemoryBudget memory_{file_};
  WeightFiles weights_;  // may be missing
  bool batch_used_ = false;
};

}  // namespace emplace::formats
