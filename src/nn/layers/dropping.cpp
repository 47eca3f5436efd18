#include "nn/layers/dropping.hpp"

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"

namespace emplace::nn {

namespace {

constexpr double steps = 65536;  // a decision takes 16 bits

bool drops(const Dropout& dropout) { return dropout.masks != nullptr && dropout.rate > 0; }

// An element whose 16 bits are below this value is dropped.
std::uint32_t threshold_of(const Dropout& dropout) {
  EMPLACE_CHECK(dropout.rate >= 0 && dropout.rate < 1, "dropout must be from 0 to below 1, got {}", dropout.rate);
  return std::min(static_cast<std::uint32_t>(std::lround(dropout.rate * steps)), std::uint32_t{65535});
}

}  // namespace

double drop_scale(const Dropout& dropout) { return drops(dropout) ? steps / (steps - threshold_of(dropout)) : 1; }

template <class T>
void relu_drop(const Dropout& dropout, std::span<T> values) {
  if (!drops(dropout)) {
    for (T& v : values) v = v > 0 ? v : T{0};
    return;
  }
  constexpr std::size_t piece = 2048;  // a multiple of the stream's blocks
  std::uint16_t bits[piece];
  const auto threshold = static_cast<std::uint16_t>(threshold_of(dropout));
  const auto scale = static_cast<T>(drop_scale(dropout));
  for (std::size_t begin = 0; begin < values.size(); begin += piece) {
    const std::size_t count = std::min(piece, values.size() - begin);
    dropout.masks->fill({bits, count});
    T* const v = values.data() + begin;
    for (std::size_t i = 0; i < count; ++i) v[i] = (bits[i] >= threshold) & (v[i] > 0) ? v[i] * scale : T{0};
  }
}

template <class T>
void relu_drop_backward(T scale, std::span<const T> after, std::span<const T> d_after, std::span<T> d_before) {
  for (std::size_t i = 0; i < after.size(); ++i) d_before[i] = after[i] > 0 ? d_after[i] * scale : T{0};
}

#define EMPLACE_INSTANTIATE(T)                           \
  template void relu_drop(const Dropout&, std::span<T>); \
  template void relu_drop_backward(T, std::span<const T>, std::span<const T>, std::span<T>);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
