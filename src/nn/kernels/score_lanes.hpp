// Attention's scores for one instruction set (see lanes.hpp). The formulas are in scores.hpp.
#pragma once

#include "nn/kernels/kernels.hpp"
#include "nn/kernels/lanes.hpp"

namespace emplace::nn {
namespace {

// r = 1 / (1 + e^{2 (key + query)}) at element j of a pair.
template <class T>
struct Pair {
  const T *key = nullptr, *query = nullptr;  // exponentials, or the values themselves if they are large
  bool large = false;

  Pair() = default;
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

// The outer loop is over keys, the inner over queries: few queries and their results stay in the L1 cache.
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

// Processes a block of q neighbouring queries and k neighbouring keys: with d = r - r^2, d_query += 4 du v d, d_key +=
// 4 du v d, d_v += du - 2 du r. Data that pairs of the block share is loaded and stored once.
template <class T, bool large, std::size_t q, std::size_t k, bool with_key, bool with_v>
inline void score_block(const Pair<T> (&pairs)[q][k], const T* v, std::size_t columns, const T (&du)[q][k], T* d_query,
                        T* d_key, T* d_v) {
  over<T>(columns, [&](auto part, std::size_t j) {
    const Lanes<T> scaled = T{4} * load(part, v + j);
    Lanes<T> by_query[q], by_key[k], by_v = {};
    for (std::size_t t = 0; t < q; ++t) by_query[t] = load(part, d_query + t * columns + j);
    if constexpr (with_key)
      for (std::size_t i = 0; i < k; ++i) by_key[i] = load(part, d_key + i * columns + j);
    if constexpr (with_v) by_v = load(part, d_v + j);
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t t = 0; t < q; ++t) {
        const Lanes<T> r = ratio<large>(part, pairs[t][i], j);
        const Lanes<T> d = (du[t][i] * scaled) * fma(-r, r, r);
        by_query[t] += d;
        if constexpr (with_key) by_key[i] += d;
        if constexpr (with_v) by_v += fma(all(T{-2} * du[t][i]), r, all(du[t][i]));
      }
    for (std::size_t t = 0; t < q; ++t) store(part, d_query + t * columns + j, by_query[t]);
    if constexpr (with_key)
      for (std::size_t i = 0; i < k; ++i) store(part, d_key + i * columns + j, by_key[i]);
    if constexpr (with_v) store(part, d_v + j, by_v);
  });
}

template <class T, std::size_t q, std::size_t k, bool with_key, bool with_v>
inline void score_block_at(KernelSide<T> queries, std::size_t t, KernelSide<T> keys, std::size_t i, const T* v,
                           std::size_t columns, const T* d_scores, T* d_queries, T* d_keys, T* d_v) {
  bool large = false;
  for (std::size_t a = 0; a < q; ++a) large = large || queries.large[t + a] != 0;
  for (std::size_t b = 0; b < k; ++b) large = large || keys.large[i + b] != 0;
  if constexpr (q * k > 1) {
    if (large) {
      for (std::size_t b = 0; b < k; ++b)
        for (std::size_t a = 0; a < q; ++a)
          score_block_at<T, 1, 1, with_key, with_v>(queries, t + a, keys, i + b, v, columns, d_scores, d_queries,
                                                    d_keys, d_v);
      return;
    }
  }
  Pair<T> pairs[q][k];
  T du[q][k];
  for (std::size_t a = 0; a < q; ++a)
    for (std::size_t b = 0; b < k; ++b) {
      pairs[a][b] = Pair<T>(queries, t + a, keys, i + b, columns);
      du[a][b] = d_scores[(t + a) * keys.rows + i + b];
    }
  T* const d_query = d_queries + t * columns;
  T* const d_key = with_key ? d_keys + i * columns : nullptr;
  if (large)
    score_block<T, true, q, k, with_key, with_v>(pairs, v, columns, du, d_query, d_key, d_v);
  else
    score_block<T, false, q, k, with_key, with_v>(pairs, v, columns, du, d_query, d_key, d_v);
}

template <class T, bool with_key, bool with_v>
void scores_backward_of(KernelSide<T> queries, KernelSide<T> keys, const T* v, std::size_t columns, const T* d_scores,
                        T* d_queries, T* d_keys, T* d_v) {
  const auto block = [=]<std::size_t q, std::size_t k>(std::size_t t, std::size_t i) {
    score_block_at<T, q, k, with_key, with_v>(queries, t, keys, i, v, columns, d_scores, d_queries, d_keys, d_v);
  };
  constexpr std::size_t near = 16;
  for (std::size_t begin = 0; begin < queries.rows; begin += near) {
    const std::size_t end = begin + near < queries.rows ? begin + near : queries.rows;
    for (std::size_t i = 0; i < keys.rows; i += 2) {
      const bool two = i + 2 <= keys.rows;
      std::size_t t = begin;
      for (; t + 2 <= end; t += 2) two ? block.template operator()<2, 2>(t, i) : block.template operator()<2, 1>(t, i);
      if (t < end) two ? block.template operator()<1, 2>(t, i) : block.template operator()<1, 1>(t, i);
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
