// Attention's scores for one instruction set (see lanes.hpp). The formulas are in scores.hpp.
#pragma once

#include "kernels.hpp"
#include "lanes.hpp"

namespace emplace::nn {
namespace {

// r = 1 / (1 + e^{2 (key + query)}) at element j of a pair.
template <class T>
struct Pair {
  const T *key, *query;  // exponentials, or the values themselves where they are large
  bool large;

  Pair(const KernelSide<T>& queries, std::size_t t, const KernelSide<T>& keys, std::size_t i, std::size_t columns)
      : large((queries.large[t] | keys.large[i]) != 0) {
    key = (large ? keys.raw : keys.exponential) + i * columns;
    query = (large ? queries.raw : queries.exponential) + t * columns;
  }
};

template <bool large, class T, class P>
inline Lanes<T> ratio(P part, const Pair<T>& pair, std::size_t j) {
  const Lanes<T> a = load(part, pair.key + j), b = load(part, pair.query + j);
  if constexpr (large)
    return T{1} / (T{1} + exp<T>(T{2} * (a + b)));
  else
    return T{1} / fma(a, b, all(T{1}));
}

template <class T, bool large>
inline T score(const Pair<T>& pair, const T* v, std::size_t columns) {
  Wide<T> sum;
  over_wide<T>(columns, [&](auto part, std::size_t j, std::size_t p) {
    sum.part[p] = fma(load(part, v + j), ratio<large>(part, pair, j), sum.part[p]);
  });
  return sum.total();
}

// Keys outside, queries inside: with few queries they and their results stay in the nearest cache.
template <class T>
void scores(KernelSide<T> queries, KernelSide<T> keys, const T* v, std::size_t columns, T* result) {
  Wide<T> sum;
  over_wide<T>(columns, [&](auto part, std::size_t j, std::size_t p) { sum.part[p] += load(part, v + j); });
  const T total = sum.total();
  constexpr std::size_t block = 16;
  for (std::size_t begin = 0; begin < queries.rows; begin += block) {
    const std::size_t end = begin + block < queries.rows ? begin + block : queries.rows;
    for (std::size_t i = 0; i < keys.rows; ++i)
      for (std::size_t t = begin; t < end; ++t) {
        const Pair<T> pair(queries, t, keys, i, columns);
        const T u = pair.large ? score<T, true>(pair, v, columns) : score<T, false>(pair, v, columns);
        result[t * keys.rows + i] = total - 2 * u;
      }
  }
}

// With d = r - r^2: d_query += 4 du v d, d_key += 4 du v d, d_v += du - 2 du r.
template <class T, bool large, bool with_key, bool with_v>
inline void score_backward(const Pair<T>& pair, const T* v, std::size_t columns, T du, T* d_query, T* d_key, T* d_v) {
  over<T>(columns, [&](auto part, std::size_t j) {
    const Lanes<T> r = ratio<large>(part, pair, j);
    const Lanes<T> d = (T{4} * du) * load(part, v + j) * fma(-r, r, r);
    store(part, d_query + j, load(part, d_query + j) + d);
    if constexpr (with_key) store(part, d_key + j, load(part, d_key + j) + d);
    if constexpr (with_v) store(part, d_v + j, load(part, d_v + j) + fma(all(T{-2} * du), r, all(du)));
  });
}

template <class T, bool with_key, bool with_v>
void scores_backward_of(KernelSide<T> queries, KernelSide<T> keys, const T* v, std::size_t columns, const T* d_scores,
                        T* d_queries, T* d_keys, T* d_v) {
  constexpr std::size_t block = 16;
  for (std::size_t begin = 0; begin < queries.rows; begin += block) {
    const std::size_t end = begin + block < queries.rows ? begin + block : queries.rows;
    for (std::size_t i = 0; i < keys.rows; ++i)
      for (std::size_t t = begin; t < end; ++t) {
        const Pair<T> pair(queries, t, keys, i, columns);
        const T du = d_scores[t * keys.rows + i];
        T* const d_query = d_queries + t * columns;
        T* const d_key = with_key ? d_keys + i * columns : nullptr;
        if (pair.large)
          score_backward<T, true, with_key, with_v>(pair, v, columns, du, d_query, d_key, d_v);
        else
          score_backward<T, false, with_key, with_v>(pair, v, columns, du, d_query, d_key, d_v);
      }
  }
}

template <class T>
void scores_backward(KernelSide<T> queries, KernelSide<T> keys, const T* v, std::size_t columns, const T* d_scores,
                     T* d_queries, T* d_keys, T* d_v) {
  if (d_keys != nullptr && d_v != nullptr)
    scores_backward_of<T, true, true>(queries, keys, v, columns, d_scores, d_queries, d_keys, d_v);
  else if (d_keys != nullptr)
    scores_backward_of<T, true, false>(queries, keys, v, columns, d_scores, d_queries, d_keys, d_v);
  else if (d_v != nullptr)
    scores_backward_of<T, false, true>(queries, keys, v, columns, d_scores, d_queries, d_keys, d_v);
  else
    scores_backward_of<T, false, false>(queries, keys, v, columns, d_scores, d_queries, d_keys, d_v);
}

}  // namespace
}  // namespace emplace::nn
