// Rules of ops whose results follow from shapes or are made from a few numbers: Shape, Size, Range, ConstantOfShape.
#include <algorithm>
#include <cmath>

#include "formats/onnx/fold/call.hpp"

namespace emplace::formats {

namespace {

FoldedElement size_element(const onnx::TensorShapeProto_Dimension& dimension) {
  return dimension.has_dim_value() ? FoldedElement::of_whole(dimension.dim_value()) : FoldedElement{};
}

FoldedOutputs shape_values(const FoldCall& call) {
  const onnx::TensorShapeProto* shape = call.shape(0);
  if (shape == nullptr) return {};
  const std::int64_t rank = shape->dim_size();
  const auto limited = [rank](std::int64_t axis) {
    return std::min(std::max<std::int64_t>(axis < 0 ? axis + rank : axis, 0), rank);
  };
  const std::int64_t begin = limited(call.whole("start", 0)), end = limited(call.whole("end", rank));
  FoldedTensor result{onnx::TensorProto::INT64, {std::max<std::int64_t>(end - begin, 0)}, {}};
  for (std::int64_t axis = begin; axis < end; ++axis)
    result.elements.push_back(size_element(shape->dim(static_cast<int>(axis))));
  return {std::move(result)};
}

FoldedOutputs size_value(const FoldCall& call) {
  const onnx::TensorShapeProto* shape = call.shape(0);
  if (shape == nullptr) return {};
  std::int64_t product = 1;
  for (const auto& dimension : shape->dim())
    if (!dimension.has_dim_value() || __builtin_mul_overflow(product, dimension.dim_value(), &product)) return {};
  return {FoldedTensor{onnx::TensorProto::INT64, {}, {FoldedElement::of_whole(product)}}};
}

std::optional<FoldedElement> single_element(const FoldCall& call, std::size_t i) {
  const FoldedTensor* tensor = call.input(i);
  if (tensor == nullptr || tensor->elements.size() != 1 || !tensor->elements[0].known) return std::nullopt;
  return tensor->elements[0];
}

// The number of steps of Range; nullopt if there are too many or the step is 0.
std::optional<std::size_t> range_length(double begin, double end, double step) {
  const double length = std::ceil((end - begin) / step);
  if (!(length <= static_cast<double>(most_folded_elements))) return std::nullopt;  // also NaN
  return length <= 0 ? 0 : static_cast<std::size_t>(length);
}

FoldedOutputs range_values(const FoldCall& call) {
  const auto begin = single_element(call, 0), end = single_element(call, 1), step = single_element(call, 2);
  if (!begin || !end || !step) return {};
  const bool real = call.input(0)->is_real();
  // Beyond 2^53 a double is not exact.
  for (const FoldedElement& each : {*begin, *end, *step})
    if (each.whole > (std::int64_t{1} << 53) || each.whole < -(std::int64_t{1} << 53)) return {};
  const auto number = [real](const FoldedElement& each) { return real ? each.real : static_cast<double>(each.whole); };
  const auto length = range_length(number(*begin), number(*end), number(*step));
  if (!length || !call.budget().spend_steps(*length)) return {};
  FoldedTensor result{call.input(0)->type, {static_cast<std::int64_t>(*length)}, {}};
  for (std::size_t i = 0; i < *length; ++i)
    result.elements.push_back(real
                                  ? FoldedElement::of_real(begin->real + static_cast<double>(i) * step->real)
                                  : FoldedElement::of_whole(begin->whole + static_cast<std::int64_t>(i) * step->whole));
  return {std::move(result)};
}

FoldedOutputs constant_of_shape(const FoldCall& call) {
  const auto dims = call.wholes(0);
  const auto count = dims ? folded_count(*dims) : std::nullopt;
  if (!count || !call.budget().spend_steps(*count)) return {};
  FoldedTensor value{onnx::TensorProto::FLOAT, {1}, {FoldedElement::of_real(0)}};
  if (const onnx::AttributeProto* given = call.attribute("value"); given != nullptr) {
    const auto read = folded_of(given->t());
    if (!read || read->elements.size() != 1) return {};
    value = *read;
  }
  return {FoldedTensor{value.type, *dims, std::vector<FoldedElement>(*count, value.elements[0])}};
}

// The positions of the elements that are not 0: one row for each axis.
FoldedOutputs nonzero_positions(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  if (from == nullptr || !from->is_known()) return {};
  const std::size_t rank = from->dims.size();
  if (!call.budget().spend_steps(from->elements.size() * (rank + 1))) return {};
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < from->elements.size(); ++i)
    if (from->is_real() ? from->elements[i].real != 0 : from->elements[i].whole != 0) found.push_back(i);
  auto result = unknown_tensor(onnx::TensorProto::INT64,
                               {static_cast<std::int64_t>(rank), static_cast<std::int64_t>(found.size())});
  if (!result) return {};
  for (std::size_t k = 0; k < found.size(); ++k) {
    std::size_t left = found[k];
    for (std::size_t axis = rank; axis-- > 0;) {
      const auto size = static_cast<std::size_t>(from->dims[axis]);
      result->elements[axis * found.size() + k] = FoldedElement::of_whole(static_cast<std::int64_t>(left % size));
      left /= size;
    }
  }
  return {std::move(*result)};
}

}  // namespace

const FoldRules& creation_rules() {
  static const FoldRules rules = {{"Shape", shape_values},
                                  {"Size", size_value},
                                  {"Range", range_values},
                                  {"ConstantOfShape", constant_of_shape},
                                  {"NonZero", nonzero_positions}};
  return rules;
}

}  // namespace emplace::formats
