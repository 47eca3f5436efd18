// Reads the sizes of weights from Const layers, the <blobs> of IR 6, and the constants of bodies.
#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/openvino/graph.hpp"
#include "formats/openvino/ops.hpp"

namespace emplace::formats {

namespace {

constexpr int deepest_body = 16;

}  // namespace

std::string GraphFromIr::weights_of(const std::string& file) {
  return std::filesystem::path(file).replace_extension(".bin").string();
}

// Parses a shape such as "1, 3, 224, 224"; "" is a scalar.
Shape GraphFromIr::shape_of(std::string_view text, const std::string& here) const {
  Shape shape = Shape::scalar();
  if (text.find_first_not_of(' ') == std::string_view::npos) return shape;
  for (const std::string& part : split(text, ',')) {
    const std::size_t start = std::min(part.find_first_not_of(' '), part.size());
    std::int64_t size = 0;
    if (!parse_number(std::string_view(part).substr(start, part.find_last_not_of(' ') + 1 - start), size) || size < 0)
      throw InputError(here, "the shape of its data should be whole numbers, found {}", quote(text));
    shape.dims.push_back(size);
  }
  return shape;
}

std::int64_t GraphFromIr::bytes_of_data(const pugi::xml_node& node, const std::string& here) const {
  std::int64_t size = 0;
  if (!parse_number(std::string_view(node.attribute("size").value()), size) || size < 0)
    throw InputError(here, "the size of its data should be a number of bytes, found {}",
                     quote(node.attribute("size").value()));
  return size;
}

Operand GraphFromIr::add_parameter(const std::string& name, DType dtype, Shape shape, bool trainable) {
  memory_.use(192 + 2 * name.size());
  std::string unique = name;
  for (std::size_t i = parameter_names_.size(); !parameter_names_.insert(unique).second; ++i)
    unique = fmt::format("{}#{}", name, i);
  return Operand::of(graph_.add_parameter(unique, dtype, std::move(shape), trainable));
}

// Adds a constant; its element type and shape must give the stated `size` in bytes.
void GraphFromIr::add_constant(std::size_t i, const pugi::xml_node& data) {
  const std::string here = place(i);
  const std::string_view precision = data.attribute("element_type").value();
  const DType dtype = dtype_of_openvino(precision, here);
  Shape shape = shape_of(data.attribute("shape").value(), here);
  const std::int64_t size = bytes_of_data(data, here);
  const bool packed = precision.size() == 2 && precision[1] != '8';  // i4, u4, u1: several elements in a byte
  const auto elements = shape.elements();
  if (!packed && bytes_of(dtype) > 0 &&
      (!elements || *elements > total_limit / bytes_of(dtype) ||
       (*elements * bytes_of(dtype) != size &&
        !(*elements == 0 && size == 1))))  // OpenVINO writes a byte for no elements
    throw InputError(here, "claims {} bytes of data for the shape {} of {}", size, shape.str(), quote(precision));
  std::int64_t offset = 0;
  if (is_small_whole(dtype, shape) && parse_number(std::string_view(data.attribute("offset").value()), offset))
    if (auto value = weights_.wholes(offset, dtype, shape, graph_.ops[i].name))
      graph_.ops[i].attributes[constant_attribute] = *std::move(value);
  graph_.ops[i].inputs.push_back(add_parameter(graph_.ops[i].name, dtype, std::move(shape), false));
}

// IR 6 stores weights in the layer that uses them. Their shapes follow from the layer's attributes.
void GraphFromIr::add_blobs(std::size_t i, const pugi::xml_node& node) {
  for (const pugi::xml_node& blob : node.child("blobs").children()) {
    GraphOp& op = graph_.ops[i];
    const std::string here = place(i);
    const DType dtype = layers_[i].precision == DType::unknown ? DType::f32 : layers_[i].precision;
    if (bytes_of(dtype) == 0)
      throw InputError(here, "its {} have the element type {}, whose elements have no fixed size", quote(blob.name()),
                       name_of(dtype));
    const std::int64_t size = bytes_of_data(blob, here);
    const bool is_weight = std::string_view(blob.name()) == "weights";
    Shape shape{size / bytes_of(dtype)};
    if (op.type == "Constant" && !op.outputs.empty()) shape = graph_.tensors[op.outputs[0].index()].shape;
    if (is_weight && op.type == "Conv") shape = convolution_weights(i, node.child("data"));
    if (is_weight && op.type == "Gemm") {
      const std::int64_t outputs = node.child("data").attribute("out-size").as_llong(0);
      if (outputs > 0) shape = Shape{outputs, shape.dims[0] / outputs};
      op.attributes["transB"] = std::int64_t{1};
    }
    const auto elements = shape.elements();
    if (!elements || *elements > total_limit / bytes_of(dtype) || *elements * bytes_of(dtype) != size)
      throw InputError(here, "its {} have {} bytes, which do not fill the shape {} of {}", quote(blob.name()), size,
                       shape.str(), name_of(dtype));
    if (op.inputs.empty() && op.type != "Constant") op.inputs.push_back(Operand::none());
    op.inputs.push_back(add_parameter(fmt::format("{}/{}", op.name, blob.name()), dtype, std::move(shape),
                                      op.type != "Constant" && is_floating(dtype)));
  }
}

// The shape: output channels x input channels per group x kernel.
Shape GraphFromIr::convolution_weights(std::size_t i, const pugi::xml_node& data) const {
  const std::string here = place(i);
  const GraphOp& op = graph_.ops[i];
  const std::int64_t outputs = data.attribute("output").as_llong(0), group = data.attribute("group").as_llong(1);
  const auto kernel = op.attributes.find("kernel_shape");
  const auto* sizes = kernel == op.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&kernel->second);
  const Shape input =
      op.inputs.empty() || !op.inputs[0].is_tensor() ? Shape() : graph_.tensors[op.inputs[0].index].shape;
  if (outputs < 1 || group < 1 || sizes == nullptr || input.dims.size() < 2)
    throw InputError(here, "a convolution needs an input, 'output', 'group' and 'kernel'");
  Shape shape{outputs, input.dims[1] / group};
  shape.dims.insert(shape.dims.end(), sizes->begin(), sizes->end());
  return shape;
}

// The constants of a body become parameters of the layer, so they are on its device.
void GraphFromIr::add_weights_inside(std::size_t i, const pugi::xml_node& node, int depth) {
  if (depth > deepest_body) throw InputError(place(i), "its bodies are nested deeper than {}", deepest_body);
  for (const char* name : {"body", "then_body", "else_body"})
    for (const pugi::xml_node& layer : node.child(name).child("layers").children("layer")) {
      const pugi::xml_node data = layer.child("data");
      if (std::string_view(layer.attribute("type").value()) == "Const" && data.attribute("size"))
        graph_.ops[i].inputs.push_back(
            add_parameter(fmt::format("{}/{}", graph_.ops[i].name, text_of(layer, "name", place(i))),
                          dtype_of_openvino(data.attribute("element_type").value(), place(i)),
                          shape_of(data.attribute("shape").value(), place(i)), false));
      add_weights_inside(i, layer, depth + 1);
    }
}

}  // namespace emplace::formats
