#include "formats/openvino/graph.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/fix_inputs.hpp"
#include "formats/openvino/ops.hpp"
#include "formats/propagate_shapes.hpp"
#include "formats/utf8.hpp"

namespace emplace::formats {

Graph GraphFromIr::build() {
  for (const pugi::xml_node& layer : net_.child("layers").children()) add_layer(layer);
  if (graph_.ops.empty()) throw InputError(file_, "the net has no layers");
  for (const pugi::xml_node& edge : net_.child("edges").children()) add_edge(edge);
  check_inputs();
  std::size_t i = 0;
  for (const pugi::xml_node& layer : net_.child("layers").children()) {
    add_blobs(i, layer);
    add_weights_inside(i, layer, 0);
    put_in_order(graph_.ops[i++], layer);
  }
  check_options();
  const std::string name = text_of(net_, "name", file_);
  graph_.name = name.empty() ? file_.substr(file_.find_last_of('/') + 1) : name;
  if (bodies_ > 0)
    log_warning("{}: {} layers have bodies (If, Loop, TensorIterator); each is costed as one op", file_, bodies_);
  graph_.relink(file_);
  if (!options_.shapes.empty() || options_.batch) propagate_shapes(graph_, stated_, file_);
  graph_.validate(file_);
  return std::move(graph_);
}

std::string GraphFromIr::place(std::size_t layer) const {
  return fmt::format("{}: layer {}", file_, quote(graph_.ops[layer].name));
}

void GraphFromIr::sort_ports(Ports& ports, const char* what, const std::string& where) {
  std::sort(ports.begin(), ports.end());
  const auto twin =
      std::adjacent_find(ports.begin(), ports.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twin != ports.end()) throw InputError(where, "has two {} ports {}", what, quote(twin->first));
}

std::string GraphFromIr::text_of(const pugi::xml_node& node, const char* attribute, const std::string& where) const {
  const std::string_view text = node.attribute(attribute).value();
  if (text.size() > (std::size_t{64} << 10)) throw InputError(where, "its {} is longer than 64 KiB", attribute);
  if (!is_utf8(text)) throw InputError(where, "its {} is not valid UTF-8", attribute);
  return std::string(text);
}

void GraphFromIr::add_layer(const pugi::xml_node& node) {
  const std::size_t i = graph_.ops.size();
  std::string where = fmt::format("{}: layer {}", file_, i);
  if (std::string_view(node.name()) != "layer")
    throw InputError(where, "expected <layer>, found {}", quote(node.name()));
  const pugi::xml_node data = node.child("data");
  GraphOp op;
  op.name = text_of(node, "name", where);
  const std::string type = text_of(node, "type", where);
  if (op.name.empty() || type.empty()) throw InputError(where, "a layer needs a name and a type");
  op.type = graph_op_name(type, data).type;
  op.attributes = attributes_of(data);
  if (op.type == "LSTM" || op.type == "GRU" || op.type == "RNN")
    op.attributes["layout"] = std::int64_t{1};  // the batch is first
  memory_.use(sizeof(GraphOp) + sizeof(Layer) + 4 * op.name.size() + 256 + 192 * op.attributes.size());
  Layer layer;
  where = fmt::format("{}: layer {}", file_, quote(op.name));
  layer.precision = dtype_of_openvino(node.attribute("precision").value(), where);
  layer.id = node.attribute("id").value();
  if (layer.id.empty()) throw InputError(where, "has no id");
  if (const auto twin = ids_.add(layer.id, static_cast<std::uint32_t>(i), id_at()))
    throw InputError(where, "has the id {}, which layer {} has already", quote(layer.id),
                     quote(graph_.ops[*twin].name));
  for (const pugi::xml_node& port : node.child("input").children("port")) {
    layer.inputs.emplace_back(port.attribute("id").value(), op.inputs.size());
    op.inputs.push_back(Operand::none());
    memory_.use(96);
  }
  const bool is_input = type == "Parameter" || type == "Input";
  for (const pugi::xml_node& port : node.child("output").children("port")) {
    layer.outputs.emplace_back(port.attribute("id").value(), op.outputs.size());
    GraphTensor tensor;
    tensor.name = fmt::format("{}:{}", op.name, op.outputs.size());
    tensor.shape = shape_of(port, where);
    tensor.dtype = dtype_of_openvino(port.attribute("precision").value(), where);
    if (tensor.dtype == DType::unknown) tensor.dtype = layer.precision;
    if (tensor.dtype == DType::unknown) tensor.dtype = dtype_of_openvino(data.attribute("element_type").value(), where);
    memory_.use(320 + op.name.size() + 32 * tensor.shape.dims.size());
    stated_.push_back(tensor.shape);
    if (is_input) fix_input(op.name, port, tensor.shape);
    op.outputs.emplace_back(graph_.tensors.size());
    graph_.tensors.push_back(std::move(tensor));
  }
  sort_ports(layer.inputs, "input", where);
  sort_ports(layer.outputs, "output", where);
  for (const char* body : {"body", "then_body", "else_body"}) bodies_ += node.child(body) ? 1 : 0;
  layers_.push_back(std::move(layer));
  graph_.ops.push_back(std::move(op));
  if (type == "Const" && data.attribute("size")) add_constant(i, data);
}

Shape GraphFromIr::shape_of(const pugi::xml_node& port, const std::string& where) const {
  Shape shape = Shape::scalar();
  for (const pugi::xml_node& dim : port.children("dim")) {
    std::int64_t size = 0;
    if (!parse_number(std::string_view(dim.child_value()), size) || size < -1)
      throw InputError(where, "a dimension is a whole number, or -1 where it is open; found {}",
                       quote(dim.child_value()));
    if (shape.dims.size() == 254) throw InputError(where, "a shape has more than 254 dimensions");
    shape.dims.push_back(size);
  }
  return shape;
}

std::pair<std::size_t, std::size_t> GraphFromIr::end_of(const pugi::xml_node& edge, const char* layer_key,
                                                        const char* port_key, bool is_input) const {
  const std::string_view layer_id = edge.attribute(layer_key).value(), port_id = edge.attribute(port_key).value();
  const auto layer = ids_.find(layer_id, id_at());
  if (!layer) throw InputError(file_, "an edge has {}={}, and no layer has this id", layer_key, quote(layer_id));
  const auto& ports = is_input ? layers_[*layer].inputs : layers_[*layer].outputs;
  const auto port = std::lower_bound(ports.begin(), ports.end(), port_id,
                                     [](const auto& a, std::string_view id) { return a.first < id; });
  if (port == ports.end() || port->first != port_id)
    throw InputError(place(*layer), "an edge has {}={}, and the layer has no such {} port", port_key, quote(port_id),
                     is_input ? "input" : "output");
  return {*layer, port->second};
}

void GraphFromIr::add_edge(const pugi::xml_node& edge) {
  const auto [from, output] = end_of(edge, "from-layer", "from-port", false);
  const auto [to, input] = end_of(edge, "to-layer", "to-port", true);
  Operand& operand = graph_.ops[to].inputs[input];
  if (operand.kind != Operand::Kind::none)
    throw InputError(place(to), "two edges end at its input port {}", quote(edge.attribute("to-port").value()));
  operand = Operand::of(graph_.ops[from].outputs[output]);
}

void GraphFromIr::check_inputs() const {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    for (const auto& [id, position] : layers_[i].inputs)
      if (graph_.ops[i].inputs[position].kind == Operand::Kind::none)
        throw InputError(place(i), "no edge ends at its input port {}", quote(id));
}

void GraphFromIr::put_in_order(GraphOp& op, const pugi::xml_node& node) {
  const std::string_view order = graph_op_name(node.attribute("type").value(), node.child("data")).order;
  if (!order.empty()) {
    std::vector<Operand> ordered;
    for (const char digit : order)
      ordered.push_back(static_cast<std::size_t>(digit - '0') < op.inputs.size()
                            ? op.inputs[static_cast<std::size_t>(digit - '0')]
                            : Operand::none());
    for (std::size_t k = order.size(); k < op.inputs.size(); ++k) ordered.push_back(op.inputs[k]);
    op.inputs = std::move(ordered);
  }
  // The number of groups is the first dimension of the weight.
  if (op.type == "GroupConvolution" && op.inputs.size() > 1 && op.inputs[1].is_tensor())
    if (const Shape& weight = graph_.tensors[op.inputs[1].index].shape; !weight.dims.empty())
      op.attributes["group"] = weight.dims[0];
}

void GraphFromIr::fix_input(const std::string& name, const pugi::xml_node& port, Shape& shape) {
  std::vector<std::string> names{name};
  for (std::string& alias : split(port.attribute("names").value(), ',')) names.push_back(std::move(alias));
  for (const std::string& alias : names)
    if (const auto given = options_.shapes.find(alias); given != options_.shapes.end()) {
      fix_shape(shape, given->second, alias, file_);
      used_shapes_.insert(alias);
      break;
    }
  if (options_.batch) batch_used_ |= fix_batch(shape, *options_.batch, file_);
  check_input(shape, name, file_);
  input_names_.push_back(name);
}

void GraphFromIr::check_options() const {
  for (const auto& [name, sizes] : options_.shapes)
    if (!used_shapes_.contains(name))
      throw InputError(file_, "the model has no input {}{}", quote(name), known_inputs(name, input_names_));
  if (options_.batch && !batch_used_) warn_unused_batch(*options_.batch, file_);
}

}  // namespace emplace::formats
