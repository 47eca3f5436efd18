// Rules of ops that combine elements along axes.
#include <algorithm>

#include "formats/onnx/fold/call.hpp"

namespace emplace::formats {

namespace {

using Accumulate = FoldedElement (*)(bool real, const FoldedElement& sum, const FoldedElement& next);

FoldedElement sum_with(bool real, const FoldedElement& sum, const FoldedElement& next) {
  std::int64_t result = 0;
  if (real) return FoldedElement::of_real(sum.real + next.real);
  return __builtin_add_overflow(sum.whole, next.whole, &result) ? FoldedElement{} : FoldedElement::of_whole(result);
}
FoldedElement product_with(bool real, const FoldedElement& product, const FoldedElement& next) {
  std::int64_t result = 0;
  if (real) return FoldedElement::of_real(product.real * next.real);
  return __builtin_mul_overflow(product.whole, next.whole, &result) ? FoldedElement{} : FoldedElement::of_whole(result);
}
FoldedElement largest_with(bool real, const FoldedElement& most, const FoldedElement& next) {
  return (real ? next.real > most.real : next.whole > most.whole) ? next : most;
}
FoldedElement smallest_with(bool real, const FoldedElement& least, const FoldedElement& next) {
  return (real ? next.real < least.real : next.whole < least.whole) ? next : least;
}

// Which axes are reduced; nullopt if that is not known.
std::optional<std::vector<bool>> reduced_axes(const FoldCall& call, std::size_t rank) {
  const bool lists = call.has_input(1) || call.attribute("axes") != nullptr;
  if (!lists) return std::vector<bool>(rank, call.whole("noop_with_empty_axes", 0) == 0);
  const auto axes = call.wholes(1, "axes");
  if (!axes) return std::nullopt;
  std::vector<bool> reduced(rank, axes->empty() && call.whole("noop_with_empty_axes", 0) == 0);
  for (const std::int64_t each : *axes) {
    const auto axis = front_axis(each, rank);
    if (!axis) return std::nullopt;
    reduced[*axis] = true;
  }
  return reduced;
}

// For each element of the input the flat position of its sum.
std::vector<std::size_t> sum_positions(const FoldedDims& dims, const std::vector<bool>& reduced) {
  std::vector<std::size_t> strides(dims.size(), 0), flat = {0};
  std::size_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (reduced[i]) continue;
    strides[i] = stride;
    stride *= static_cast<std::size_t>(dims[i]);
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::vector<std::size_t> longer;
    for (const std::size_t begin : flat)
      for (std::size_t k = 0; k < static_cast<std::size_t>(dims[i]); ++k) longer.push_back(begin + k * strides[i]);
    flat = std::move(longer);
  }
  return flat;
}

FoldedOutputs reduced(const FoldCall& call, Accumulate function, std::optional<std::int64_t> of_nothing) {
  const FoldedTensor* from = call.input(0);
  const auto axes = from == nullptr ? std::nullopt : reduced_axes(call, from->dims.size());
  if (!axes || !call.budget().spend_steps(2 * from->elements.size())) return {};
  FoldedDims dims, kept;
  for (std::size_t i = 0; i < from->dims.size(); ++i) {
    if (!(*axes)[i]) kept.push_back(from->dims[i]);
    if (!(*axes)[i] || call.whole("keepdims", 1) != 0) dims.push_back((*axes)[i] ? 1 : from->dims[i]);
  }
  const auto count = folded_count(kept);
  if (!count || (from->elements.empty() && *count > 0 && !of_nothing)) return {};
  FoldedTensor result{from->type, std::move(dims), std::vector<FoldedElement>(*count)};
  std::vector<bool> begun(*count);
  const std::vector<std::size_t> positions = sum_positions(from->dims, *axes);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    FoldedElement& sum = result.elements[positions[i]];
    const FoldedElement& next = from->elements[i];
    if (!begun[positions[i]])
      sum = next;
    else
      sum = sum.known && next.known ? function(from->is_real(), sum, next) : FoldedElement{};
    begun[positions[i]] = true;
  }
  if (from->elements.empty())
    std::ranges::fill(result.elements, FoldedElement{true, *of_nothing, static_cast<double>(*of_nothing)});
  return {std::move(result)};
}

FoldedOutputs reduce_sum(const FoldCall& call) { return reduced(call, sum_with, 0); }
FoldedOutputs reduce_product(const FoldCall& call) { return reduced(call, product_with, 1); }
FoldedOutputs reduce_max(const FoldCall& call) { return reduced(call, largest_with, {}); }
FoldedOutputs reduce_min(const FoldCall& call) { return reduced(call, smallest_with, {}); }

// Sums along one axis up to each element.
FoldedOutputs cumulative_sum(const FoldCall& call) {
  const FoldedTensor* from = call.input(0);
  const auto axes = call.wholes(1);
  if (from == nullptr || !axes || axes->size() != 1 || !call.budget().spend_steps(2 * from->elements.size())) return {};
  const auto axis = front_axis((*axes)[0], from->dims.size());
  if (!axis) return {};
  std::size_t inner = 1;
  for (std::size_t i = *axis + 1; i < from->dims.size(); ++i) inner *= static_cast<std::size_t>(from->dims[i]);
  const auto length = static_cast<std::size_t>(from->dims[*axis]);
  const bool backward = call.whole("reverse", 0) != 0, exclusive = call.whole("exclusive", 0) != 0;
  FoldedTensor result = *from;
  for (std::size_t begin = 0; begin < from->elements.size(); begin += length * inner)
    for (std::size_t column = 0; column < inner; ++column) {
      FoldedElement sum{true, 0, 0};
      for (std::size_t k = 0; k < length; ++k) {
        const std::size_t at = begin + (backward ? length - 1 - k : k) * inner + column;
        const FoldedElement before = sum;
        sum = sum.known && from->elements[at].known ? sum_with(from->is_real(), sum, from->elements[at])
                                                    : FoldedElement{};
        result.elements[at] = exclusive ? before : sum;
      }
    }
  return {std::move(result)};
}

}  // namespace

const FoldRules& reduction_rules() {
  static const FoldRules rules = {{"ReduceSum", reduce_sum},
                                  {"ReduceProd", reduce_product},
                                  {"ReduceMax", reduce_max},
                                  {"ReduceMin", reduce_min},
                                  {"CumSum", cumulative_sum}};
  return rules;
}

}  // namespace emplace::formats
