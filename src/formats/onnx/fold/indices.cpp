// Rules of ops that read or write elements at positions that another tensor gives.
#include "formats/onnx/fold/call.hpp"

namespace emplace::formats {

namespace {

std::vector<std::size_t> flat_strides(const FoldedDims& dims) {
  std::vector<std::size_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * static_cast<std::size_t>(dims[i]);
  return strides;
}

// A position along an axis of `size` elements, counted from its end if it is negative.
std::optional<std::size_t> position_of(std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) return std::nullopt;
  return static_cast<std::size_t>(index < 0 ? index + size : index);
}

FoldedOutputs gather_values(const FoldCall& call) {
  const FoldedTensor *from = call.input(0), *indices = call.input(1);
  const auto wanted = call.wholes(1);
  const auto axis = from == nullptr ? std::nullopt : front_axis(call.whole("axis", 0), from->dims.size());
  if (!axis || !wanted) return {};
  std::vector<std::vector<std::size_t>> along;
  FoldedDims dims;
  for (std::size_t i = 0; i < from->dims.size(); ++i) {
    auto& positions = along.emplace_back();
    if (i != *axis) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(from->dims[i]); ++k) positions.push_back(k);
      dims.push_back(from->dims[i]);
      continue;
    }
    for (const std::int64_t index : *wanted) {
      const auto position = position_of(index, from->dims[i]);
      if (!position) return {};
      positions.push_back(*position);
    }
    dims.insert(dims.end(), indices->dims.begin(), indices->dims.end());
  }
  FoldedOutputs outputs = folded_count(dims) ? taken(call, *from, along) : FoldedOutputs{};
  if (!outputs.empty()) outputs[0].dims = std::move(dims);
  return outputs;
}

// For each element of `indices` the flat position in `data`: its own, with `axis` replaced by the index.
std::optional<std::vector<std::size_t>> element_positions(const FoldCall& call, const FoldedTensor& data) {
  const FoldedTensor* indices = call.input(1);
  const auto wanted = call.wholes(1);
  const auto axis = front_axis(call.whole("axis", 0), data.dims.size());
  if (!wanted || !axis || indices->dims.size() != data.dims.size() ||
      !call.budget().spend_steps(wanted->size() * (data.dims.size() + 1)))
    return std::nullopt;
  const std::vector<std::size_t> strides = flat_strides(data.dims);
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    std::size_t left = i, flat = 0;
    for (std::size_t k = data.dims.size(); k-- > 0;) {
      const auto size = static_cast<std::size_t>(indices->dims[k]);
      const auto at = static_cast<std::int64_t>(left % size);
      left /= size;
      const auto position = position_of(k == *axis ? (*wanted)[i] : at, data.dims[k]);
      if (!position) return std::nullopt;
      flat += *position * strides[k];
    }
    positions.push_back(flat);
  }
  return positions;
}

FoldedOutputs gather_elements(const FoldCall& call) {
  if (call.input(0) == nullptr) return {};
  const auto positions = element_positions(call, *call.input(0));
  if (!positions) return {};
  return {picked(*call.input(0), call.input(1)->dims, *positions)};
}

FoldedElement update_at(const FoldedTensor* updates, std::size_t i) {
  return updates == nullptr || i >= updates->elements.size() ? FoldedElement{} : updates->elements[i];
}

bool only_replaces(const FoldCall& call) {
  const onnx::AttributeProto* reduction = call.attribute("reduction");
  return reduction == nullptr || reduction->s() == "none";
}

FoldedOutputs scatter_elements(const FoldCall& call) {
  if (call.input(0) == nullptr || !only_replaces(call)) return {};
  const auto positions = element_positions(call, *call.input(0));
  if (!positions || !call.budget().spend_steps(call.input(0)->elements.size())) return {};
  FoldedTensor result = *call.input(0);
  for (std::size_t i = 0; i < positions->size(); ++i) result.elements[(*positions)[i]] = update_at(call.input(2), i);
  return {std::move(result)};
}

// The blocks of `data` that the rows of ScatterND's and GatherND's indices name: where each begins, and their length.
struct Blocks {
  std::vector<std::size_t> begins;
  std::size_t length = 1;
  FoldedDims rows;   // the indices' sizes without the last
  FoldedDims inner;  // the sizes of a block
};

std::optional<Blocks> blocks_of(const FoldCall& call, const FoldedTensor& data) {
  const FoldedTensor* indices = call.input(1);
  const auto wanted = call.wholes(1);
  if (!wanted || indices->dims.empty() || indices->dims.back() < 1 ||
      static_cast<std::size_t>(indices->dims.back()) > data.dims.size() || !call.budget().spend_steps(wanted->size()))
    return std::nullopt;
  const auto depth = static_cast<std::size_t>(indices->dims.back());
  const std::vector<std::size_t> strides = flat_strides(data.dims);
  Blocks blocks;
  blocks.rows.assign(indices->dims.begin(), indices->dims.end() - 1);
  blocks.inner.assign(data.dims.begin() + static_cast<std::ptrdiff_t>(depth), data.dims.end());
  for (const std::int64_t size : blocks.inner) blocks.length *= static_cast<std::size_t>(size);
  for (std::size_t row = 0; row < wanted->size(); row += depth) {
    std::size_t& begin = blocks.begins.emplace_back(0);
    for (std::size_t k = 0; k < depth; ++k) {
      const auto position = position_of((*wanted)[row + k], data.dims[k]);
      if (!position) return std::nullopt;
      begin += *position * strides[k];
    }
  }
  return blocks;
}

FoldedOutputs scatter_nd(const FoldCall& call) {
  const FoldedTensor* data = call.input(0);
  if (data == nullptr || !only_replaces(call)) return {};
  const auto blocks = blocks_of(call, *data);
  if (!blocks || blocks->begins.size() * blocks->length > most_folded_elements ||
      !call.budget().spend_steps(data->elements.size() + blocks->begins.size() * blocks->length))
    return {};
  FoldedTensor result = *data;
  std::size_t next = 0;
  for (const std::size_t begin : blocks->begins)
    for (std::size_t i = 0; i < blocks->length; ++i) result.elements[begin + i] = update_at(call.input(2), next++);
  return {std::move(result)};
}

FoldedOutputs gather_nd(const FoldCall& call) {
  const FoldedTensor* data = call.input(0);
  if (data == nullptr || call.whole("batch_dims", 0) != 0) return {};
  const auto blocks = blocks_of(call, *data);
  if (!blocks) return {};
  FoldedDims dims = blocks->rows;
  dims.insert(dims.end(), blocks->inner.begin(), blocks->inner.end());
  const auto count = folded_count(dims);
  if (!count || !call.budget().spend_steps(*count)) return {};
  std::vector<std::size_t> positions;
  for (const std::size_t begin : blocks->begins)
    for (std::size_t i = 0; i < blocks->length; ++i) positions.push_back(begin + i);
  return {picked(*data, std::move(dims), positions)};
}

}  // namespace

const FoldRules& index_rules() {
  static const FoldRules rules = {{"Gather", gather_values},     {"GatherElements", gather_elements},
                                  {"GatherND", gather_nd},       {"ScatterElements", scatter_elements},
                                  {"Scatter", scatter_elements}, {"ScatterND", scatter_nd}};
  return rules;
}

}  // namespace emplace::formats
