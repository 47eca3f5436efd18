// OpenVINO IR (https://docs.openvino.ai, "Intermediate Representation"), versions 5 to 11: one op a layer. The .bin
// with the weights is not needed: Const layers and <blobs> give its sizes.
#include "openvino.hpp"

#include <algorithm>
#include <pugixml.hpp>
#include <unordered_map>
#include <unordered_set>

#include "emplace/base/error.hpp"
#include "emplace/base/files.hpp"
#include "emplace/base/log.hpp"
#include "emplace/base/text.hpp"
#include "fix_inputs.hpp"
#include "openvino_ops.hpp"
#include "propagate_shapes.hpp"
#include "utf8.hpp"

namespace emplace {

namespace {

constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;
constexpr std::size_t largest_memory = std::size_t{4} << 30;
constexpr int deepest_body = 16;

bool is_floating(DType type) {
  return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
}

class GraphFromIr {
 public:
  GraphFromIr(const pugi::xml_node& net, const std::string& file, const ReadOptions& options)
      : net_(net), file_(file), options_(options) {}

  Graph build() {
    for (const pugi::xml_node& layer : net_.child("layers").children()) add_layer(layer);
    if (graph_.ops.empty()) throw InputError(file_, "the net has no layers");
    for (const pugi::xml_node& edge : net_.child("edges").children()) add_edge(edge);
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

 private:
  struct Layer {
    std::string place;                                                  // "file: layer 'conv1'"
    std::unordered_map<std::string_view, std::size_t> inputs, outputs;  // port id -> position
    DType precision = DType::unknown;                                   // IR 6: of the whole layer
  };

  std::string text_of(const pugi::xml_node& node, const char* attribute, const std::string& place) const {
    const std::string_view text = node.attribute(attribute).value();
    if (text.size() > (std::size_t{64} << 10)) throw InputError(place, "its {} is longer than 64 KiB", attribute);
    if (!is_utf8(text)) throw InputError(place, "its {} is not valid UTF-8", attribute);
    return std::string(text);
  }

  void add_layer(const pugi::xml_node& node) {
    const std::size_t i = graph_.ops.size();
    const std::string where = fmt::format("{}: layer {}", file_, i);
    if (std::string_view(node.name()) != "layer")
      throw InputError(where, "expected <layer>, found {}", quote(node.name()));
    const pugi::xml_node data = node.child("data");
    GraphOp op;
    op.name = text_of(node, "name", where);
    const std::string type = text_of(node, "type", where);
    if (op.name.empty() || type.empty()) throw InputError(where, "a layer needs a name and a type");
    op.type = graph_op_name(type, data).type;
    op.attributes = attributes_of(data);
    Layer layer;
    layer.place = fmt::format("{}: layer {}", file_, quote(op.name));
    layer.precision = dtype_of_openvino(node.attribute("precision").value(), layer.place);
    if (const auto [at, is_new] = ids_.emplace(node.attribute("id").value(), i); !is_new)
      throw InputError(layer.place, "has the id {}, which layer {} has already", quote(node.attribute("id").value()),
                       quote(graph_.ops[at->second].name));
    for (const pugi::xml_node& port : node.child("input").children("port")) {
      const std::string_view id = port.attribute("id").value();
      if (!layer.inputs.emplace(id, op.inputs.size()).second)
        throw InputError(layer.place, "has two input ports {}", quote(id));
      op.inputs.push_back(Operand::none());
    }
    const bool is_input = type == "Parameter" || type == "Input";
    for (const pugi::xml_node& port : node.child("output").children("port")) {
      const std::string_view id = port.attribute("id").value();
      if (!layer.outputs.emplace(id, op.outputs.size()).second)
        throw InputError(layer.place, "has two output ports {}", quote(id));
      GraphTensor tensor;
      tensor.name = fmt::format("{}:{}", op.name, op.outputs.size());
      tensor.shape = shape_of(port, layer.place);
      tensor.dtype = dtype_of_openvino(port.attribute("precision").value(), layer.place);
      if (tensor.dtype == DType::unknown) tensor.dtype = layer.precision;
      if (tensor.dtype == DType::unknown)
        tensor.dtype = dtype_of_openvino(data.attribute("element_type").value(), layer.place);
      stated_.push_back(tensor.shape);
      if (is_input) fix_input(op.name, port, tensor.shape);
      op.outputs.emplace_back(graph_.tensors.size());
      graph_.tensors.push_back(std::move(tensor));
    }
    for (const char* body : {"body", "then_body", "else_body"}) bodies_ += node.child(body) ? 1 : 0;
    layers_.push_back(std::move(layer));
    graph_.ops.push_back(std::move(op));
    if (type == "Const" && data.attribute("size")) add_constant(i, data);
  }

  Shape shape_of(const pugi::xml_node& port, const std::string& place) const {
    Shape shape = Shape::scalar();
    for (const pugi::xml_node& dim : port.children("dim")) {
      std::int64_t size = 0;
      if (!parse_number(std::string_view(dim.child_value()), size) || size < -1)
        throw InputError(place, "a dimension is a whole number, or -1 where it is open; found {}",
                         quote(dim.child_value()));
      if (shape.dims.size() == 254) throw InputError(place, "a shape has more than 254 dimensions");
      shape.dims.push_back(size);
    }
    return shape;
  }

  // "1, 3, 224, 224"; "" is a scalar.
  Shape shape_of(std::string_view text, const std::string& place) const {
    Shape shape = Shape::scalar();
    if (text.find_first_not_of(' ') == std::string_view::npos) return shape;
    for (const std::string& part : split(text, ',')) {
      const std::size_t start = std::min(part.find_first_not_of(' '), part.size());
      std::int64_t size = 0;
      if (!parse_number(std::string_view(part).substr(start, part.find_last_not_of(' ') + 1 - start), size) || size < 0)
        throw InputError(place, "the shape of its data should be whole numbers, found {}", quote(text));
      shape.dims.push_back(size);
    }
    return shape;
  }

  std::int64_t bytes_of_data(const pugi::xml_node& node, const std::string& place) const {
    std::int64_t size = 0;
    if (!parse_number(std::string_view(node.attribute("size").value()), size) || size < 0)
      throw InputError(place, "the size of its data should be a number of bytes, found {}",
                       quote(node.attribute("size").value()));
    return size;
  }

  Operand add_parameter(const std::string& name, DType dtype, Shape shape, bool trainable) {
    std::string unique = name;
    for (std::size_t i = 1; !parameter_names_.insert(unique).second; ++i) unique = fmt::format("{}#{}", name, i);
    return Operand::of(graph_.add_parameter(unique, dtype, std::move(shape), trainable));
  }

  // A constant's data: element type and shape are given and must fill `size`.
  void add_constant(std::size_t i, const pugi::xml_node& data) {
    const std::string& place = layers_[i].place;
    const std::string_view precision = data.attribute("element_type").value();
    const DType dtype = dtype_of_openvino(precision, place);
    Shape shape = shape_of(data.attribute("shape").value(), place);
    const std::int64_t size = bytes_of_data(data, place);
    const bool packed = precision.size() == 2 && precision[1] != '8';  // i4, u4, u1: several elements a byte
    const auto elements = shape.elements();
    if (!packed && bytes_of(dtype) > 0 &&
        (!elements || *elements > total_limit / bytes_of(dtype) || *elements * bytes_of(dtype) != size))
      throw InputError(place, "claims {} bytes of data for the shape {} of {}", size, shape.str(), quote(precision));
    graph_.ops[i].inputs.push_back(add_parameter(graph_.ops[i].name, dtype, std::move(shape), false));
  }

  // IR 6 keeps weights inside the layer that uses them. Their shapes follow from the layer's attributes.
  void add_blobs(std::size_t i, const pugi::xml_node& node) {
    for (const pugi::xml_node& blob : node.child("blobs").children()) {
      GraphOp& op = graph_.ops[i];
      const std::string& place = layers_[i].place;
      const DType dtype = layers_[i].precision == DType::unknown ? DType::f32 : layers_[i].precision;
      const std::int64_t size = bytes_of_data(blob, place);
      const bool is_weight = std::string_view(blob.name()) == "weights";
      Shape shape{size / std::max<std::int64_t>(bytes_of(dtype), 1)};
      if (op.type == "Constant" && !op.outputs.empty()) shape = graph_.tensors[op.outputs[0].index()].shape;
      if (is_weight && op.type == "Conv") shape = convolution_weights(i, node.child("data"));
      if (is_weight && op.type == "Gemm") {
        const std::int64_t outputs = node.child("data").attribute("out-size").as_llong(0);
        if (outputs > 0) shape = Shape{outputs, shape.dims[0] / outputs};
        op.attributes["transB"] = std::int64_t{1};
      }
      const auto elements = shape.elements();
      if (!elements || *elements > total_limit / bytes_of(dtype) || *elements * bytes_of(dtype) != size)
        throw InputError(place, "its {} have {} bytes, which do not fill the shape {} of {}", quote(blob.name()), size,
                         shape.str(), name_of(dtype));
      if (op.inputs.empty() && op.type != "Constant") op.inputs.push_back(Operand::none());
      op.inputs.push_back(add_parameter(fmt::format("{}/{}", op.name, blob.name()), dtype, std::move(shape),
                                        op.type != "Constant" && is_floating(dtype)));
    }
  }

  // Output channels x input channels a group x kernel.
  Shape convolution_weights(std::size_t i, const pugi::xml_node& data) {
    const std::string& place = layers_[i].place;
    const GraphOp& op = graph_.ops[i];
    const std::int64_t outputs = data.attribute("output").as_llong(0), group = data.attribute("group").as_llong(1);
    const auto kernel = op.attributes.find("kernel_shape");
    const auto* sizes =
        kernel == op.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&kernel->second);
    const Shape input =
        op.inputs.empty() || !op.inputs[0].is_tensor() ? Shape() : graph_.tensors[op.inputs[0].index].shape;
    if (outputs < 1 || group < 1 || sizes == nullptr || input.dims.size() < 2)
      throw InputError(place, "a convolution needs an input, 'output', 'group' and 'kernel'");
    Shape shape{outputs, input.dims[1] / group};
    shape.dims.insert(shape.dims.end(), sizes->begin(), sizes->end());
    return shape;
  }

  // The constants of a body stay on the layer's device.
  void add_weights_inside(std::size_t i, const pugi::xml_node& node, int depth) {
    if (depth > deepest_body) throw InputError(layers_[i].place, "its bodies are nested deeper than {}", deepest_body);
    for (const char* name : {"body", "then_body", "else_body"})
      for (const pugi::xml_node& layer : node.child(name).child("layers").children("layer")) {
        const pugi::xml_node data = layer.child("data");
        if (std::string_view(layer.attribute("type").value()) == "Const" && data.attribute("size"))
          graph_.ops[i].inputs.push_back(
              add_parameter(fmt::format("{}/{}", graph_.ops[i].name, text_of(layer, "name", layers_[i].place)),
                            dtype_of_openvino(data.attribute("element_type").value(), layers_[i].place),
                            shape_of(data.attribute("shape").value(), layers_[i].place), false));
        add_weights_inside(i, layer, depth + 1);
      }
  }

  std::pair<std::size_t, std::size_t> end_of(const pugi::xml_node& edge, const char* layer_key, const char* port_key,
                                             bool is_input) const {
    const std::string_view layer_id = edge.attribute(layer_key).value(), port_id = edge.attribute(port_key).value();
    const auto layer = ids_.find(layer_id);
    if (layer == ids_.end())
      throw InputError(file_, "an edge has {}={}, and no layer has this id", layer_key, quote(layer_id));
    const auto& ports = is_input ? layers_[layer->second].inputs : layers_[layer->second].outputs;
    const auto port = ports.find(port_id);
    if (port == ports.end())
      throw InputError(layers_[layer->second].place, "an edge has {}={}, and the layer has no such {} port", port_key,
                       quote(port_id), is_input ? "input" : "output");
    return {layer->second, port->second};
  }

  void add_edge(const pugi::xml_node& edge) {
    const auto [from, output] = end_of(edge, "from-layer", "from-port", false);
    const auto [to, input] = end_of(edge, "to-layer", "to-port", true);
    Operand& operand = graph_.ops[to].inputs[input];
    if (operand.kind != Operand::Kind::none)
      throw InputError(layers_[to].place, "two edges end at its input port {}",
                       quote(edge.attribute("to-port").value()));
    operand = Operand::of(graph_.ops[from].outputs[output]);
  }

  void put_in_order(GraphOp& op, const pugi::xml_node& node) {
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
    // A depthwise one has as many groups as its weight's first dimension says.
    if (op.type == "GroupConvolution" && op.inputs.size() > 1 && op.inputs[1].is_tensor())
      if (const Shape& weight = graph_.tensors[op.inputs[1].index].shape; !weight.dims.empty())
        op.attributes["group"] = weight.dims[0];
  }

  void fix_input(const std::string& name, const pugi::xml_node& port, Shape& shape) {
    std::vector<std::string> names{name};
    for (std::string& alias : split(port.attribute("names").value(), ',')) names.push_back(std::move(alias));
    for (const std::string& alias : names)
      if (const auto given = options_.shapes.find(alias); given != options_.shapes.end()) {
        fix_shape(shape, given->second, alias, file_);
        used_shapes_.insert(alias);
        break;
      }
    if (options_.batch) batch_used_ |= fix_batch(shape, *options_.batch, file_);
    input_names_.push_back(name);
  }

  void check_options() const {
    for (const auto& [name, sizes] : options_.shapes)
      if (!used_shapes_.contains(name))
        throw InputError(file_, "the model has no input {}{}", quote(name), known_inputs(name, input_names_));
    if (options_.batch && !batch_used_) warn_unused_batch(*options_.batch, file_);
  }

  const pugi::xml_node net_;
  const std::string& file_;
  const ReadOptions& options_;
  Graph graph_;
  std::vector<Layer> layers_;
  std::vector<Shape> stated_;  // per tensor, before inputs are fixed
  std::unordered_map<std::string_view, std::size_t> ids_;
  std::unordered_set<std::string> parameter_names_, used_shapes_;
  std::vector<std::string> input_names_;
  std::size_t bodies_ = 0;
  bool batch_used_ = false;
};

Graph read_openvino(const std::string& path, const ReadOptions& options) {
  std::string text = read_file(path, largest_file);
  // What pugixml will allocate: a node an element, an attribute an equals sign. It never expands entities of a DTD.
  const auto elements = static_cast<std::size_t>(std::count(text.begin(), text.end(), '<'));
  const auto attributes = static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
  if (elements * sizeof(void*) * 7 + attributes * sizeof(void*) * 5 > largest_memory)
    throw InputError(path, "is too large: {} elements and {} attributes", elements, attributes);
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer_inplace(
      text.data(), text.size(), pugi::parse_minimal | pugi::parse_escapes | pugi::parse_embed_pcdata,
      pugi::encoding_utf8);
  if (!parsed)
    throw InputError(path, "is not valid XML, or is truncated: {}, at byte {}", parsed.description(), parsed.offset);
  const pugi::xml_node net = document.child("net");
  if (!net)
    throw InputError(path, "is no OpenVINO IR: its root is {}, not <net>", quote(document.first_child().name()));
  const std::string_view version = net.attribute("version").value();
  std::int64_t number = 0;
  if (!parse_number(version, number) || number < 5 || number > 11)
    throw InputError(path, "is OpenVINO IR of version {}; versions 5 to 11 are read", quote(version));
  return GraphFromIr(net, path, options).build();
}

}  // namespace

ReaderEntry openvino_reader() {
  ReaderEntry entry;
  entry.name = "openvino";
  entry.summary = "OpenVINO IR (.xml), versions 5 to 11; the .bin with the weights may be missing.";
  entry.reference = "OpenVINO Intermediate Representation";
  entry.recognises = [](const std::string& path, std::string_view head) {
    return path.ends_with(".xml") || head.find("<net ") != std::string_view::npos;
  };
  entry.read = read_openvino;
  return entry;
}

}  // namespace emplace
