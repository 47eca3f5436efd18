#include "formats/onnx/reshape_targets.hpp"

#include <algorithm>

namespace emplace::formats {

namespace {

using TargetSizes = std::vector<std::int64_t>;

// The product; nullopt if a size is negative or it is above 2^62.
std::optional<std::int64_t> product_of(std::span<const std::int64_t> sizes) {
  Shape shape = Shape::scalar();
  shape.dims.assign(sizes.begin(), sizes.end());
  return shape.elements();
}

// Each replaced size, once, at the first place where the target has it.
TargetSizes with_replaced_sizes(std::span<const std::int64_t> target, std::span<const ReplacedSize> replaced) {
  TargetSizes result(target.begin(), target.end());
  std::vector<bool> done(result.size());
  for (const auto& [before, now] : replaced)
    for (std::size_t i = 0; i < result.size(); ++i)
      if (result[i] == before && !done[i]) {
        result[i] = now;
        done[i] = true;
        break;
      }
  return result;
}

// How many sizes at the end of both lists have equal products, group by group: (8, 128, 768) and (1, 128, 12, 64) have
// 2 and 3.
std::pair<std::size_t, std::size_t> common_end(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  std::size_t i = a.size(), j = b.size(), settled_i = i, settled_j = j;
  std::int64_t left = 1, right = 1;
  while (true) {
    if (left == right) {
      settled_i = i;
      settled_j = j;
      if (i == 0 || j == 0) break;
      left = a[--i];
      right = b[--j];
    } else if (left < right) {
      if (i == 0 || left > total_limit / std::max<std::int64_t>(a[i - 1], 1)) break;
      left *= a[--i];
    } else {
      if (j == 0 || right > total_limit / std::max<std::int64_t>(b[j - 1], 1)) break;
      right *= b[--j];
    }
  }
  return {a.size() - settled_i, b.size() - settled_j};
}

// The sizes before the common end: those of the input if there are as many, else the first one is multiplied.
TargetSizes with_input_sizes(std::span<const std::int64_t> input, std::span<const std::int64_t> target,
                             std::int64_t elements, std::int64_t stated) {
  const auto [input_end, target_end] = common_end(input, target);
  const std::size_t input_lead = input.size() - input_end, target_lead = target.size() - target_end;
  TargetSizes result(target.begin(), target.end());
  if (input_lead == target_lead && target_end > 0)
    std::copy_n(input.begin(), input_lead, result.begin());
  else if (!result.empty() && elements % stated == 0)
    result[0] *= elements / stated;
  else if (target_lead == 1)
    result[0] = *product_of(input.first(input_lead));
  return result;
}

}  // namespace

std::optional<std::vector<std::int64_t>> fitted_target(const Shape& input, std::span<const std::int64_t> target,
                                                       std::span<const ReplacedSize> replaced) {
  const auto elements = input.elements(), stated = product_of(target);
  if (!elements || !stated || *elements == *stated || *elements == 0 || *stated == 0) return std::nullopt;
  if (TargetSizes result = with_replaced_sizes(target, replaced); product_of(result) == elements) return result;
  TargetSizes result = with_input_sizes(input.dims, target, *elements, *stated);
  return product_of(result) == elements ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace emplace::formats
