#include "formats/onnx/fold/call.hpp"

#include <algorithm>

namespace emplace::formats {

namespace {

bool spend_of(std::size_t& left, std::size_t count) {
  if (count > left) return false;
  left -= count;
  return true;
}

// The distance between neighbours along each axis.
std::vector<std::size_t> row_major_strides(const FoldedDims& dims) {
  std::vector<std::size_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * static_cast<std::size_t>(dims[i]);
  return strides;
}

}  // namespace

bool FoldBudget::spend_steps(std::size_t count) { return spend_of(steps, count); }
bool FoldBudget::spend_stored(std::size_t count) { return spend_of(stored, count); }

bool FoldCall::has_input(std::size_t i) const {
  const int position = static_cast<int>(i);
  return position < node_.input_size() && !node_.input(position).empty();
}

const onnx::TensorShapeProto* FoldCall::shape(std::size_t i) const {
  if (i >= types_.size() || types_[i] == nullptr || !types_[i]->has_tensor_type()) return nullptr;
  return types_[i]->tensor_type().has_shape() ? &types_[i]->tensor_type().shape() : nullptr;
}

std::optional<std::vector<std::int64_t>> FoldCall::wholes(std::size_t i) const {
  const FoldedTensor* tensor = input(i);
  if (tensor == nullptr || tensor->is_real() || !tensor->is_known()) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const FoldedElement& element : tensor->elements) values.push_back(element.whole);
  return values;
}

std::optional<std::vector<std::int64_t>> FoldCall::wholes(std::size_t i, const char* name) const {
  if (has_input(i)) return wholes(i);
  const onnx::AttributeProto* found = attribute(name);
  if (found == nullptr) return std::nullopt;
  return std::vector<std::int64_t>(found->ints().begin(), found->ints().end());
}

const onnx::AttributeProto* FoldCall::attribute(std::string_view name) const {
  for (const auto& each : node_.attribute())
    if (each.name() == name) return &each;
  return nullptr;
}

std::int64_t FoldCall::whole(std::string_view name, std::int64_t fallback) const {
  const onnx::AttributeProto* found = attribute(name);
  return found == nullptr ? fallback : static_cast<std::int64_t>(found->i());
}

std::optional<std::size_t> front_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

FoldedTensor picked(const FoldedTensor& from, FoldedDims dims, const std::vector<std::size_t>& positions) {
  FoldedTensor result{from.type, std::move(dims), {}};
  result.elements.reserve(positions.size());
  for (const std::size_t position : positions) result.elements.push_back(from.elements[position]);
  return result;
}

FoldedOutputs taken(const FoldCall& call, const FoldedTensor& from,
                    const std::vector<std::vector<std::size_t>>& along) {
  FoldedDims dims;
  for (const auto& positions : along) dims.push_back(static_cast<std::int64_t>(positions.size()));
  const auto count = folded_count(dims);
  if (!count || !call.budget().spend_steps(*count)) return {};
  const std::vector<std::size_t> strides = row_major_strides(from.dims);
  std::vector<std::size_t> flat = {0};
  for (std::size_t axis = 0; axis < along.size(); ++axis) {
    std::vector<std::size_t> longer;
    longer.reserve(flat.size() * along[axis].size());
    for (const std::size_t begin : flat)
      for (const std::size_t position : along[axis]) longer.push_back(begin + position * strides[axis]);
    flat = std::move(longer);
  }
  return {picked(from, std::move(dims), flat)};
}

std::optional<FoldedDims> broadcast_dims(const FoldedDims& a, const FoldedDims& b) {
  const FoldedDims& longer = a.size() >= b.size() ? a : b;
  const FoldedDims& shorter = a.size() >= b.size() ? b : a;
  FoldedDims dims = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = dims[lead + i];
    if (size == 1)
      size = shorter[i];
    else if (shorter[i] != 1 && shorter[i] != size)
      return std::nullopt;
  }
  return dims;
}

FoldedTensor broadcast_to(const FoldedTensor& from, const FoldedDims& dims) {
  const std::size_t lead = dims.size() - from.dims.size();
  const std::vector<std::size_t> strides = row_major_strides(from.dims);
  std::vector<std::size_t> flat = {0};
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const bool repeats = axis < lead || from.dims[axis - lead] == 1;
    std::vector<std::size_t> longer;
    for (const std::size_t begin : flat)
      for (std::size_t i = 0; i < static_cast<std::size_t>(dims[axis]); ++i)
        longer.push_back(begin + (repeats ? 0 : i * strides[axis - lead]));
    flat = std::move(longer);
  }
  return picked(from, dims, flat);
}

}  // namespace emplace::formats
