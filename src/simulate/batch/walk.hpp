// Functions that the walks of the batch kernels share.
#pragma once

#include "simulate/batch/lanes.hpp"
#include "simulate/batch/view.hpp"

namespace emplace::simulate::batch {
namespace {

template <unsigned N>
struct Number {
  static constexpr unsigned value = N;
};
// Calls f(Number<0>) .. f(Number<N-1>): with indices known at compile time, arrays stay in registers.
template <unsigned N, class F>
[[gnu::always_inline]] inline void each(F&& f) {
  if constexpr (N > 0) {
    each<N - 1>(f);
    f(Number<N - 1>{});
  }
}

// Number of words with bits 16 d + lane, four devices per word.
constexpr unsigned words_of(unsigned devices) { return (devices + 3) / 4; }
inline constexpr unsigned max_words = words_of(most_bounded > most_on_lines ? most_bounded : most_on_lines);
inline std::uint64_t load_word(const std::uint8_t* p) {
  std::uint64_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}
inline void store_word(std::uint8_t* p, std::uint64_t word) { __builtin_memcpy(p, &word, sizeof word); }

// Passes the arrival of a tensor to one consumer in the code: its slot gets the later of the old and the new arrival.
constexpr unsigned consumer_size = 3;
[[gnu::always_inline]] inline void put(double* ready, const std::uint32_t* consumer, Vector arrival) {
  store(ready + consumer[2], larger(load(ready + consumer[1]), arrival));
}

}  // namespace
}  // namespace emplace::simulate::batch
