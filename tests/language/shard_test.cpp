#include "language/shard.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "language/language_graph.hpp"
#include "tests/language/architectures.hpp"

namespace emplace::language {
namespace {

// A layer of width 64 with four heads of 16, two of keys and values, a feed-forward part of 128, and 512 tokens.
Architecture small() {
  Architecture a = test::dense_architecture();
  a.layers = 1;
  a.vocabulary = 511;
  a.heads = 4;
  a.key_size = a.value_size = 16;
  return a;
}

using Sizes = std::vector<std::int64_t>;
Sizes sizes_in(const LanguageModel& model, const std::string& name) { return model.layers[0].find(name)->sizes; }

TEST(Shard, DividesHeadsInnerWidthAndVocabularyAndRepeatsNorms) {
  const auto half = shard_of(make_language_model(small(), "m"), 2);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->layers[0].heads, 2);
  EXPECT_EQ(half->layers[0].kv_heads, 1);
  EXPECT_EQ(half->layers[0].cached_keys, 16);
  EXPECT_EQ(half->layers[0].cached_values, 16);
  EXPECT_EQ(sizes_in(*half, "attn_q.weight"), (Sizes{64, 32}));
  EXPECT_EQ(sizes_in(*half, "attn_k.weight"), (Sizes{64, 16}));
  EXPECT_EQ(sizes_in(*half, "attn_output.weight"), (Sizes{32, 64}));
  EXPECT_EQ(sizes_in(*half, "ffn_gate.weight"), (Sizes{64, 64}));
  EXPECT_EQ(sizes_in(*half, "ffn_down.weight"), (Sizes{64, 64}));
  EXPECT_EQ(sizes_in(*half, "ffn_norm.weight"), (Sizes{64}));
  // 511 tokens are 256 for each, with one row that is padding.
  EXPECT_EQ(half->input[0].sizes, (Sizes{64, 256}));
  EXPECT_EQ(half->input[0].bytes, 2 * 64 * 256);
  // Matrices of 64 x 64 (queries and output), 2 of 64 x 32 (keys, values), 3 of 64 x 128, halved, in F16; norms in F32.
  EXPECT_EQ(units_of(*half, {.context = 256})[1].weights + units_of(*half, {.context = 256})[2].weights,
            (2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128)) / 2 + 2 * 4 * 64);
}

TEST(Shard, RepeatsKeysWhereThereAreFewerHeadsOfThemThanDevices) {
  const auto quarter = shard_of(make_language_model(small(), "m"), 4);
  ASSERT_TRUE(quarter);
  EXPECT_EQ(quarter->layers[0].heads, 1);
  EXPECT_EQ(quarter->layers[0].kv_heads, 1);
  EXPECT_EQ(sizes_in(*quarter, "attn_v.weight"), (Sizes{64, 16}));
}

TEST(Shard, IsNoneWhereHeadsOrWidthsOrBlocksDoNotDivide) {
  EXPECT_FALSE(shard_of(make_language_model(small(), "m"), 3)) << "4 heads";
  Architecture odd = small();
  odd.inner = 130;
  EXPECT_FALSE(shard_of(make_language_model(odd, "m"), 4)) << "130 columns";
  // Blocks of 32: a quarter of 64 columns is half a block, a half of them is one.
  Architecture quantised = small();
  quantised.type = "Q8_0";
  EXPECT_TRUE(shard_of(make_language_model(quantised, "m"), 2));
  EXPECT_FALSE(shard_of(make_language_model(quantised, "m"), 4));
}

TEST(Shard, DividesEachExpertAndKeepsTheRouter) {
  Architecture experts = small();
  experts.experts = 8;
  experts.experts_used = 2;
  experts.expert_inner = 32;
  const auto half = shard_of(make_language_model(experts, "m"), 2);
  ASSERT_TRUE(half);
  EXPECT_EQ(sizes_in(*half, "ffn_up_exps.weight"), (Sizes{64, 16, 8}));
  EXPECT_EQ(sizes_in(*half, "ffn_down_exps.weight"), (Sizes{16, 64, 8}));
  EXPECT_EQ(sizes_in(*half, "ffn_gate_inp.weight"), (Sizes{64, 8}));
}

TEST(Shard, RepeatsTheCompressedCacheOfLatentAttention) {
  Architecture latent = small();
  latent.kv_heads = 4;
  latent.key_size = 24;
  latent.rotated = 8;
  latent.kv_rank = 32;
  const auto half = shard_of(make_language_model(latent, "m"), 2);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->layers[0].cached_keys, 40);
  EXPECT_EQ(sizes_in(*half, "attn_kv_a_mqa.weight"), (Sizes{64, 40}));
  EXPECT_EQ(sizes_in(*half, "attn_k_b.weight"), (Sizes{16, 32, 2}));
  EXPECT_EQ(sizes_in(*half, "attn_q.weight"), (Sizes{64, 48}));
}

// No part of a model is lost: the shards have at least its bytes, and their steps have graphs.
RC_GTEST_PROP(ShardLaw, ShardsTogetherHoldAtLeastTheWholeModel, ()) {
  Architecture a =
      *rc::gen::element(test::dense_architecture(), test::expert_architecture(), test::latent_architecture());
  a.type = *rc::gen::element<std::string>("F16", "Q8_0", "Q4_0");
  a.tied = *rc::gen::arbitrary<bool>();
  a.qkv_bias = *rc::gen::arbitrary<bool>();
  const LanguageModel whole = make_language_model(a, "m");
  const auto parts = *rc::gen::inRange<std::int64_t>(1, 9);
  const auto shard = shard_of(whole, parts);
  if (!shard) return;
  RC_ASSERT(shard->weight_bytes() * parts >= whole.weight_bytes());
  RC_ASSERT(shard->weight_bytes() <= whole.weight_bytes());
  RC_ASSERT(cache_bytes(*shard, {.context = 256}) * parts >= cache_bytes(whole, {.context = 256}));
  check(*shard, "shard");
  language_graph(*shard, {.context = 256}, "shard");
}

}  // namespace
}  // namespace emplace::language
