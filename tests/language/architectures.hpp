// Small language models whose sums can be computed by hand.
#pragma once

#include <algorithm>

#include "language/architecture.hpp"

namespace emplace::test {

// Two layers of width 64 with 8 heads of 8 that share 2 key-value heads, and a vocabulary of 1000.
inline language::Architecture dense_architecture() {
  language::Architecture a;
  a.name = a.architecture = "llama";
  a.layers = 2;
  a.hidden = 64;
  a.vocabulary = 1000;
  a.heads = 8;
  a.kv_heads = 2;
  a.key_size = a.value_size = 8;
  a.inner = 128;
  return a;
}

// The same with 8 experts of width 32 in each layer but the first, of which a token uses 2, and a shared one of 48.
inline language::Architecture expert_architecture() {
  language::Architecture a = dense_architecture();
  a.architecture = "deepseek2";
  a.layers = 3;
  a.dense_layers = 1;
  a.experts = 8;
  a.experts_used = 2;
  a.expert_inner = 32;
  a.shared_inner = 48;
  return a;
}

// Keys of 24 values, of which 8 are rotated, from a compressed vector of 32; queries by way of 40 values.
inline language::Architecture latent_architecture() {
  language::Architecture a = expert_architecture();
  a.key_size = 24;
  a.value_size = 16;
  a.rotated = 8;
  a.kv_rank = 32;
  a.query_rank = 40;
  return a;
}

}  // namespace emplace::test
