// Rules of ops that rearrange, select or repeat elements along whole axes.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "formats/onnx/fold/call.hpp"

namespace emplace::formats {

namespace {

using AxisPositions = std::vector<std::size_t>;

AxisPositions all_positions(std::int64_t size) {
  AxisPositions positions(static_cast<std::size_t>(size));
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  return positions;
}

std::vector<AxisPositions> all_along(const FoldedTensor& tensor) {
  std::vector<AxisPositions> along;
  for (const std::int64_t size : tensor.dims) along.push_back(all_positions(size));
  return along;
}

// The same elements with other sizes; an empty list if their numbers differ.
FoldedOutputs resized(const FoldCall& call, FoldedDims dims) {
  const auto count = folded_count(dims);
  if (!count || *count != call.input(0)->elements.size() || !call.budget().spend_steps(*count)) return {};
  FoldedTensor result = *call.input(0);
  result.dims = std::move(dims);
  return {std::move(result)};
}

FoldedOutputs reshape_values(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  const auto target = call.wholes(1, "shape");
  if (from == nullptr || !target) return {};
  FoldedDims dims = *target;
  std::size_t open = dims.size();
  std::size_t known = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && call.whole("allowzero", 0) == 0 && i < from->dims.size()) dims[i] = from->dims[i];
    if (dims[i] < 0 && open < dims.size()) return {};
    if (dims[i] < 0)
      open = i;
    else
      known *= std::min<std::size_t>(static_cast<std::size_t>(dims[i]), most_folded_elements + 1);
    if (known > most_folded_elements) return {};
  }
  if (open < dims.size()) {
    if (known == 0 || from->elements.size() % known != 0) return {};
    dims[open] = static_cast<std::int64_t>(from->elements.size() / known);
  }
  return resized(call, std::move(dims));
}

FoldedOutputs flatten_values(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  if (from == nullptr) return {};
  const auto rank = static_cast<std::int64_t>(from->dims.size());
  std::int64_t axis = call.whole("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return {};
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  const auto middle = from->dims.begin() + axis;
  return resized(call, {product(from->dims.begin(), middle), product(middle, from->dims.end())});
}

FoldedOutputs squeeze_values(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  if (from == nullptr) return {};
  std::vector<bool> removed(from->dims.size());
  if (call.has_input(1) || call.attribute("axes") != nullptr) {
    const auto axes = call.wholes(1, "axes");
    if (!axes) return {};
    for (const std::int64_t each : *axes) {
      const auto axis = front_axis(each, from->dims.size());
      if (!axis || from->dims[*axis] != 1) return {};
      removed[*axis] = true;
    }
  } else {
    for (std::size_t i = 0; i < from->dims.size(); ++i) removed[i] = from->dims[i] == 1;
  }
  FoldedDims dims;
  for (std::size_t i = 0; i < from->dims.size(); ++i)
    if (!removed[i]) dims.push_back(from->dims[i]);
  return resized(call, std::move(dims));
}

FoldedOutputs unsqueeze_values(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  const auto axes = call.wholes(1, "axes");
  if (from == nullptr || !axes || axes->size() > 64) return {};
  FoldedDims dims(from->dims.size() + axes->size(), 0);
  for (const std::int64_t each : *axes) {
    const auto axis = front_axis(each, dims.size());
    if (!axis || dims[*axis] == 1) return {};
    dims[*axis] = 1;
  }
  std::vector<bool> added(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) added[i] = dims[i] == 1;
  std::size_t next = 0;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!added[i]) dims[i] = from->dims[next++];
  return resized(call, std::move(dims));
}

FoldedOutputs transpose_values(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  if (from == nullptr || !call.budget().spend_steps(from->elements.size())) return {};
  const std::size_t rank = from->dims.size();
  AxisPositions order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  if (const auto* given = call.attribute("perm"); given != nullptr) {
    std::vector<bool> used(rank);
    if (static_cast<std::size_t>(given->ints_size()) != rank) return {};
    for (std::size_t i = 0; i < rank; ++i) {
      const auto axis = front_axis(given->ints(static_cast<int>(i)), rank);
      if (!axis || used[*axis]) return {};
      used[*axis] = true;
      order[i] = *axis;
    }
  }
  FoldedDims dims;
  for (const std::size_t axis : order) dims.push_back(from->dims[axis]);
  AxisPositions strides(rank, 1), flat = {0};
  for (std::size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * static_cast<std::size_t>(from->dims[i]);
  for (std::size_t i = 0; i < rank; ++i) {
    AxisPositions longer;
    for (const std::size_t begin : flat)
      for (std::size_t k = 0; k < static_cast<std::size_t>(dims[i]); ++k)
        longer.push_back(begin + k * strides[order[i]]);
    flat = std::move(longer);
  }
  return {picked(*from, std::move(dims), flat)};
}

// The positions begin, begin + step, ... before `end` of an axis, as Slice counts them.
AxisPositions slice_positions(std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t step) {
  const auto limited = [size](std::int64_t at, std::int64_t least, std::int64_t most) {
    if (at < 0) at = at < -size ? -1 : at + size;
    return std::clamp(at, least, most);
  };
  AxisPositions positions;
  if (size == 0) return positions;
  if (step > 0) {
    begin = limited(begin, 0, size);
    end = limited(end, 0, size);
    for (std::int64_t at = begin; at < end;) {
      positions.push_back(static_cast<std::size_t>(at));
      if (step >= end - at) break;
      at += step;
    }
  } else {
    begin = begin < -size ? -1 : limited(begin, 0, size - 1);
    end = end < -size ? -1 : limited(end, -1, size - 1);
    for (std::int64_t at = begin; at > end;) {
      positions.push_back(static_cast<std::size_t>(at));
      if (step <= end - at) break;
      at += step;
    }
  }
  return positions;
}

FoldedOutputs slice_values(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  const auto begins = call.wholes(1, "starts"), ends = call.wholes(2, "ends");
  if (from == nullptr || !begins || !ends || begins->size() != ends->size()) return {};
  const bool lists_axes = call.has_input(3) || call.attribute("axes") != nullptr;
  const auto axes = call.wholes(3, "axes"), steps = call.wholes(4, "steps");
  if ((lists_axes && (!axes || axes->size() != begins->size())) ||
      (call.has_input(4) && (!steps || steps->size() != begins->size())))
    return {};
  std::vector<AxisPositions> along = all_along(*from);
  for (std::size_t i = 0; i < begins->size(); ++i) {
    const auto axis = front_axis(lists_axes ? (*axes)[i] : static_cast<std::int64_t>(i), from->dims.size());
    const std::int64_t step = steps ? (*steps)[i] : 1;
    if (!axis || step == 0) return {};
    along[*axis] = slice_positions(from->dims[*axis], (*begins)[i], (*ends)[i], step);
  }
  return taken(call, *from, along);
}

// The sizes of Concat's output; nullopt if the inputs do not fit together or one is not known.
std::optional<FoldedDims> concat_dims(const FoldCall& call, std::size_t axis) {
  FoldedDims dims = call.input(0)->dims;
  dims[axis] = 0;
  for (std::size_t i = 0; i < call.input_count(); ++i) {
    const FoldedTensor* part = call.input(i);
    if (part == nullptr || part->type != call.input(0)->type || part->dims.size() != dims.size()) return std::nullopt;
    for (std::size_t k = 0; k < dims.size(); ++k)
      if (k != axis && part->dims[k] != dims[k]) return std::nullopt;
    dims[axis] += part->dims[axis];
    if (!folded_count(dims)) return std::nullopt;
  }
  return dims;
}

FoldedOutputs concat_values(const FoldCall& call) {
  if (call.input(0) == nullptr) return {};
  const auto axis = front_axis(call.whole("axis", 0), call.input(0)->dims.size());
  const auto dims = axis ? concat_dims(call, *axis) : std::nullopt;
  if (!dims || !call.budget().spend_steps(*folded_count(*dims))) return {};
  const auto product = [&](std::size_t begin, std::size_t end) {
    std::size_t result = 1;
    for (std::size_t i = begin; i < end; ++i) result *= static_cast<std::size_t>((*dims)[i]);
    return result;
  };
  const std::size_t rows = product(0, *axis), inner = product(*axis + 1, dims->size());
  FoldedTensor result{call.input(0)->type, *dims, {}};
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < call.input_count(); ++i) {
      const FoldedTensor& part = *call.input(i);
      const std::size_t length = static_cast<std::size_t>(part.dims[*axis]) * inner;
      const auto begin = part.elements.begin() + static_cast<std::ptrdiff_t>(row * length);
      result.elements.insert(result.elements.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
    }
  return {std::move(result)};
}

FoldedOutputs expand_values(const FoldCall& call) {
  const auto target = call.wholes(1);
  if (call.input(0) == nullptr || !target) return {};
  const auto dims = broadcast_dims(call.input(0)->dims, *target);
  const auto count = dims ? folded_count(*dims) : std::nullopt;
  if (!count || !call.budget().spend_steps(*count)) return {};
  return {broadcast_to(*call.input(0), *dims)};
}

FoldedOutputs tile_values(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  const auto repeats = call.wholes(1);
  if (from == nullptr || !repeats || repeats->size() != from->dims.size()) return {};
  std::vector<AxisPositions> along;
  for (std::size_t i = 0; i < repeats->size(); ++i) {
    const std::int64_t count = (*repeats)[i], size = from->dims[i];
    if (count < 0 || static_cast<std::uint64_t>(count) > most_folded_elements ||
        static_cast<std::uint64_t>(count * size) > most_folded_elements)
      return {};
    AxisPositions& positions = along.emplace_back();
    for (std::int64_t k = 0; k < count * size; ++k) positions.push_back(static_cast<std::size_t>(k % size));
  }
  return taken(call, *from, along);
}

// The lengths of Split's outputs; empty if they are not known or do not fill the axis.
std::vector<std::int64_t> split_lengths(const FoldCall& call, std::int64_t size) {
  const std::int64_t outputs = call.node().output_size();
  if (call.has_input(1) || call.attribute("split") != nullptr) {
    const auto given = call.wholes(1, "split");
    if (!given || static_cast<std::int64_t>(given->size()) != outputs) return {};
    std::int64_t left = size;
    for (const std::int64_t length : *given) {
      if (length < 0 || length > left) return {};
      left -= length;
    }
    return left == 0 ? *given : std::vector<std::int64_t>{};
  }
  if (outputs == 0) return {};
  const std::int64_t length = (size + outputs - 1) / outputs;
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < outputs; ++i) lengths.push_back(std::clamp<std::int64_t>(size - i * length, 0, length));
  return lengths;
}

FoldedOutputs split_values(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  if (from == nullptr || call.node().output_size() > 4096) return {};
  const auto axis = front_axis(call.whole("axis", 0), from->dims.size());
  if (!axis) return {};
  FoldedOutputs outputs;
  std::size_t begin = 0;
  std::vector<AxisPositions> along = all_along(*from);
  for (const std::int64_t length : split_lengths(call, from->dims[*axis])) {
    AxisPositions& positions = along[*axis];
    positions.resize(static_cast<std::size_t>(length));
    std::iota(positions.begin(), positions.end(), begin);
    begin += positions.size();
    FoldedOutputs part = taken(call, *from, along);
    if (part.empty()) return {};
    outputs.push_back(std::move(part[0]));
  }
  return outputs;
}

}  // namespace

const FoldRules& movement_rules() {
  static const FoldRules rules = {{"Reshape", reshape_values},     {"Flatten", flatten_values},
                                  {"Squeeze", squeeze_values},     {"Unsqueeze", unsqueeze_values},
                                  {"Transpose", transpose_values}, {"Slice", slice_values},
                                  {"Concat", concat_values},       {"Expand", expand_values},
                                  {"Tile", tile_values},           {"Split", split_values}};
  return rules;
}

}  // namespace emplace::formats
