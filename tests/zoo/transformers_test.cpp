// BERT, GPT-2 and ViT against published sizes.
#include <gtest/gtest.h>

#include "tests/zoo/figures.hpp"

namespace emplace::zoo::transformers_test {
namespace {

TEST(Bert, HasThePublishedParametersPoolerIncluded) {
  // The released models without their pre-training heads.
  EXPECT_EQ(trainable_parameters(build_zoo_model("bert-base?batch=1")), 109482240);
  EXPECT_EQ(trainable_parameters(build_zoo_model("bert-large?batch=1")), 335141888);
}

TEST(Bert, HasThePublishedFlopsForASentenceOf128) {
  // Jiao et al. 2020 (TinyBERT), table 1: 22.5 billion.
  EXPECT_NEAR(statistics(build_zoo_model("bert-base?batch=1&sequence=128")).flops, 22.5e9, 0.02 * 22.5e9);
}

TEST(Bert, LearnsMaskedWordsWithTheTableOfTheEmbedding) {
  // Training adds the transform (H x H + H), its normalisation (2 H), a bias for each word, and 2 H + 2 for the next
  // sentence; the word table is counted once.
  constexpr std::int64_t h = 768, vocabulary = 30522;
  EXPECT_EQ(trainable_parameters(build_zoo_model("bert-base?batch=1&training=true")),
            109482240 + h * h + h + 2 * h + vocabulary + 2 * h + 2);
}

TEST(Gpt2, HasThePublishedParametersInAllSizes) {
  const auto parameters = [](const std::string& size) {
    return trainable_parameters(build_zoo_model("gpt-2?batch=1&size=" + size));
  };
  EXPECT_EQ(parameters("small"), 124439808);
  EXPECT_EQ(parameters("medium"), 354823168);
  EXPECT_EQ(parameters("large"), 774030080);
  EXPECT_EQ(parameters("xl"), 1557611200);
}

TEST(Gpt2, TakesLayersAndWidthInPlaceOfTheSizes) {
  // Embeddings (V + 1024) H; a layer 12 H^2 + 13 H; the last normalisation 2 H.
  constexpr std::int64_t h = 128, v = 1000, layers = 3;
  EXPECT_EQ(trainable_parameters(build_zoo_model("gpt-2?batch=1&sequence=8&layers=3&hidden=128&vocabulary=1000")),
            (v + 1024) * h + layers * (12 * h * h + 13 * h) + 2 * h);
}

TEST(Vit, HasThePublishedParametersAndMultiplyAdds) {
  // torchvision's vit_b_16.
  const Graph graph = build_zoo_model("vit-b-16?batch=1");
  EXPECT_EQ(trainable_parameters(graph), 86567656);
  EXPECT_NEAR(multiply_adds(graph), 17.56e9, 0.02 * 17.56e9);
}

TEST(Vit, EmbedsTheClassTokenAndAllPatches) {
  EXPECT_EQ(shape_called(build_zoo_model("vit-b-16?batch=2"), "embedding/add"), Shape({2, 14 * 14 + 1, 768}));
}

}  // namespace
}  // namespace emplace::zoo::transformers_test
