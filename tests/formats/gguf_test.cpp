// Headers of GGUF files as language models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "formats/gguf/gguf.hpp"
#include "tests/support/gguf_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::formats::gguf_test {
namespace {

using test::GgufText;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint32_t f32 = 0, f16 = 1, q4_k = 12, q6_k = 14, q8_0 = 8;

// Two layers of width 512 with 8 heads that share 2 key-value heads, as a llama has them.
GgufText keys_of_small(const std::string& architecture = "llama") {
  GgufText file;
  file.text("general.architecture", architecture)
      .whole(architecture + ".block_count", 2)
      .whole(architecture + ".embedding_length", 512)
      .whole(architecture + ".context_length", 4096)
      .whole(architecture + ".feed_forward_length", 1024)
      .whole(architecture + ".attention.head_count", 8)
      .whole(architecture + ".attention.head_count_kv", 2);
  return file;
}

GgufText& add_outside(GgufText& file) {
  return file.tensor("token_embd.weight", {512, 1000}, q4_k)
      .tensor("output_norm.weight", {512})
      .tensor("output.weight", {512, 1000}, q6_k);
}

GgufText& add_layer(GgufText& file, int layer) {
  const std::string name = "blk." + std::to_string(layer) + ".";
  return file.tensor(name + "attn_norm.weight", {512})
      .tensor(name + "attn_q.weight", {512, 512}, q4_k)
      .tensor(name + "attn_k.weight", {512, 128}, q4_k)
      .tensor(name + "attn_v.weight", {512, 128}, q6_k)
      .tensor(name + "attn_output.weight", {512, 512}, q4_k)
      .tensor(name + "ffn_norm.weight", {512})
      .tensor(name + "ffn_gate.weight", {512, 1024}, q4_k)
      .tensor(name + "ffn_up.weight", {512, 1024}, q4_k)
      .tensor(name + "ffn_down.weight", {1024, 512}, q6_k);
}

GgufText small() {
  GgufText file = keys_of_small();
  add_outside(file);
  add_layer(file, 0);
  add_layer(file, 1);
  return file;
}

language::LanguageModel read(const std::string& text, const std::string& name = "small.gguf") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/" + name, std::ios::binary) << text;
  return read_gguf(folder.path() + "/" + name);
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Gguf, AHeaderHasWidthsHeadsAndTheBytesOfEachQuantisedWeight) {
  const language::LanguageModel model = read(small().str());
  EXPECT_EQ(model.name, "small");
  EXPECT_EQ(model.architecture, "llama");
  EXPECT_EQ(model.hidden, 512);
  EXPECT_EQ(model.vocabulary, 1000);
  EXPECT_EQ(model.trained_context, 4096);
  ASSERT_EQ(model.layers.size(), 2U);
  const language::Layer& layer = model.layers[1];
  EXPECT_EQ(layer.heads, 8);
  EXPECT_EQ(layer.kv_heads, 2);
  EXPECT_EQ(layer.key_size, 64);      // 512 / 8 heads
  EXPECT_EQ(layer.cached_keys, 128);  // of 2 heads
  EXPECT_EQ(layer.window, 0);
  // Q4_K: 256 values in 144 bytes; 512 x 512 values are 1024 blocks. Q6_K: 210 bytes.
  EXPECT_EQ(layer.find("attn_q.weight")->bytes, 1024 * 144);
  EXPECT_EQ(layer.find("ffn_down.weight")->bytes, 2048 * 210);
  EXPECT_EQ(layer.find("attn_norm.weight")->bytes, 512 * 4);
  EXPECT_FALSE(model.is_tied());
  EXPECT_THAT(model.notes, ::testing::ElementsAre(HasSubstr("holds the header alone")));
}

TEST(Gguf, Version2IsReadAsVersion3) {
  GgufText file = small();
  file.version = 2;
  EXPECT_EQ(read(file.str()).weight_bytes(), read(small().str()).weight_bytes());
}

TEST(Gguf, OtherVersionsAndOtherFilesAreRefused) {
  for (const std::uint32_t version : {1U, 4U}) {
    GgufText file = small();
    file.version = version;
    EXPECT_THAT(refusal(file.str()),
                HasSubstr("has version " + std::to_string(version) + " of GGUF; versions 2 and 3"));
  }
  GgufText big;
  big.version = 3U << 24;
  EXPECT_THAT(refusal(big.str()), HasSubstr("for big-endian machines"));
  EXPECT_THAT(refusal("GGML and more than eight bytes"), HasSubstr("is no GGUF file"));
  EXPECT_THAT(refusal(""), HasSubstr("is no GGUF file"));
}

TEST(Gguf, EveryTruncationIsRefusedAndNamesTheKeyOrTensor) {
  const std::string whole = small().str();
  for (std::size_t size = 0; size < whole.size(); size += 7)
    EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << size;
  EXPECT_THAT(refusal(whole.substr(0, whole.size() - 1)),
              AllOf(HasSubstr("blk.1.ffn_down.weight"), HasSubstr("not complete")));
}

TEST(Gguf, CountsAreComparedWithTheBytesThatAreLeft) {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  GgufText list = keys_of_small();
  list.list("tokenizer.ggml.tokens", 8, huge, "");
  EXPECT_THAT(refusal(add_outside(list).str()),
              AllOf(HasSubstr("'tokenizer.ggml.tokens' has 1099511627776 entries"), HasSubstr("bytes are left")));
  GgufText numbers = keys_of_small();
  numbers.list("tokenizer.ggml.scores", 6, huge, "");
  EXPECT_THAT(refusal(add_outside(numbers).str()), HasSubstr("has 1099511627776 entries"));
  EXPECT_THAT(refusal("GGUF" + GgufText::bytes(3U) + GgufText::bytes(huge) + GgufText::bytes(huge)),
              HasSubstr("the list of keys has 1099511627776 entries"));
  GgufText text = keys_of_small();
  text.add("general.name", 8, GgufText::bytes(~std::uint64_t{0}));
  EXPECT_THAT(refusal(text.str()), HasSubstr("needs 18446744073709551615 bytes"));
}

TEST(Gguf, UnknownAndRemovedTypesAreNamed) {
  GgufText unknown = keys_of_small();
  unknown.tensor("token_embd.weight", {512, 1000}, 77);
  EXPECT_THAT(refusal(unknown.str()),
              HasSubstr("tensor 'token_embd.weight' has type 77 of ggml, which is not known here; known are 0 to 40"));
  GgufText removed = keys_of_small();
  removed.tensor("token_embd.weight", {512, 1000}, 31);
  EXPECT_THAT(refusal(removed.str()), HasSubstr("has type Q4_0_4_4 (31), which ggml does not read any more"));
  GgufText value = keys_of_small();
  EXPECT_THAT(refusal(value.add("general.name", 13, "abcd").str()), HasSubstr("'general.name' has a value of type 13"));
  GgufText nested = keys_of_small();
  EXPECT_THAT(refusal(nested.list("x", 9, 1, "").str()), HasSubstr("is a list of lists"));
}

TEST(Gguf, TensorsWhoseSizesAreNotPossibleAreRefused) {
  GgufText partial = keys_of_small();
  EXPECT_THAT(refusal(partial.tensor("token_embd.weight", {100, 10}, q4_k).str()),
              HasSubstr("rows of 100 values, but its type Q4_K stores blocks of 256"));
  GgufText none = keys_of_small();
  EXPECT_THAT(refusal(none.tensor("token_embd.weight", {512, 0}).str()), HasSubstr("dimension 1 is 0"));
  GgufText large = keys_of_small();
  EXPECT_THAT(refusal(large.tensor("token_embd.weight", {std::uint64_t{1} << 40, std::uint64_t{1} << 40}).str()),
              HasSubstr("2^62"));
  GgufText rank = keys_of_small();
  EXPECT_THAT(refusal(rank.tensor("token_embd.weight", {1, 1, 1, 1, 1}).str()), HasSubstr("has 5 dimensions"));
  GgufText far = keys_of_small();
  EXPECT_THAT(refusal(far.tensor("token_embd.weight", {512, 1000}, f32, ~std::uint64_t{0}).str()),
              HasSubstr("ends beyond 2^62"));
}

TEST(Gguf, RepeatedKeysAndTensorsAreRefused) {
  GgufText key = small();
  EXPECT_THAT(refusal(key.whole("llama.block_count", 2).str()), HasSubstr("has the key 'llama.block_count' twice"));
  GgufText tensor = small();
  EXPECT_THAT(refusal(add_layer(tensor, 1).str()), HasSubstr("has the tensor 'blk.1.attn_norm.weight' twice"));
}

TEST(Gguf, KeysThatContradictTheTensorsAreRefused) {
  GgufText heads;
  heads.text("general.architecture", "llama").whole("llama.block_count", 1).whole("llama.embedding_length", 512);
  GgufText no_heads = heads;
  EXPECT_THAT(refusal(no_heads.str()), HasSubstr("has no key llama.attention.head_count"));
  heads.whole("llama.attention.head_count", 8).whole("llama.attention.head_count_kv", 3);
  add_outside(heads);
  EXPECT_THAT(refusal(add_layer(heads, 0).str()), HasSubstr("layer 0: 8 heads cannot share 3 key-value heads"));
  GgufText beyond = small();
  EXPECT_THAT(refusal(add_layer(beyond, 2).str()), HasSubstr("is of layer 2, but llama.block_count is 2"));
  GgufText empty = keys_of_small();
  add_outside(empty);
  EXPECT_THAT(refusal(add_layer(empty, 0).str()), HasSubstr("layer 1: has no weights"));
  GgufText words = keys_of_small();
  EXPECT_THAT(refusal(words.text("llama.attention.key_length", "many").str()), HasSubstr("must be a whole number"));
}

TEST(Gguf, ModelsWithOtherLayersThanAttentionAreRefusedByTheirTensors) {
  GgufText file = small();
  file.tensor("blk.0.ssm_in.weight", {512, 512});
  EXPECT_THAT(refusal(file.str()),
              AllOf(HasSubstr("not of a transformer with attention"), HasSubstr("blk.0.ssm_in.weight")));
}

TEST(Gguf, ExpertsHaveAThirdSizeThatMustBeTheirNumber) {
  GgufText file = keys_of_small("qwen3moe");
  file.whole("qwen3moe.expert_count", 16).whole("qwen3moe.expert_used_count", 4);
  add_outside(file);
  for (int i = 0; i < 2; ++i) {
    const std::string name = "blk." + std::to_string(i) + ".";
    file.tensor(name + "attn_q.weight", {512, 512}, q8_0).tensor(name + "ffn_gate_inp.weight", {512, 16});
    for (const char* part : {"ffn_gate_exps.weight", "ffn_up_exps.weight"})
      file.tensor(name + part, {512, 256, 16}, q4_k);
    file.tensor(name + "ffn_down_exps.weight", {256, 512, 16}, q6_k);
  }
  const language::LanguageModel model = read(file.str());
  EXPECT_EQ(model.experts, 16);
  EXPECT_EQ(model.experts_used, 4);
  // 256 values a row: one block in each of 512 x 16 rows.
  EXPECT_EQ(model.layers[0].find("ffn_down_exps.weight")->bytes, 512 * 16 * 210);
  EXPECT_EQ(language::part_of("ffn_down_exps.weight"), language::Part::experts);
  EXPECT_EQ(language::part_of("ffn_gate_inp.weight"), language::Part::feed_forward);
  EXPECT_EQ(language::part_of("attn_q.weight"), language::Part::attention);
  GgufText wrong = file;
  wrong.tensor("blk.0.ffn_x_exps.weight", {512, 256, 8}, f16);
  EXPECT_THAT(refusal(wrong.str()),
              HasSubstr("ffn_x_exps.weight has the sizes 512x256x8, but the model has 16 experts"));
}

TEST(Gguf, SlidingWindowsFollowTheKeyOrTheArchitecture) {
  GgufText gemma = keys_of_small("gemma2");
  gemma.whole("gemma2.attention.sliding_window", 256);
  add_outside(gemma);
  add_layer(gemma, 0);
  add_layer(gemma, 1);
  const language::LanguageModel every_second = read(gemma.str());
  EXPECT_EQ(every_second.layers[0].window, 256);
  EXPECT_EQ(every_second.layers[1].window, 0);
  GgufText listed = gemma;
  listed.flags("gemma2.attention.sliding_window_pattern", {false, true});
  EXPECT_EQ(read(listed.str()).layers[0].window, 0);
  EXPECT_EQ(read(listed.str()).layers[1].window, 256);
  GgufText llama = keys_of_small();  // which llama.cpp runs without a window
  llama.whole("llama.attention.sliding_window", 256);
  add_outside(llama);
  add_layer(llama, 0);
  add_layer(llama, 1);
  EXPECT_EQ(read(llama.str()).layers[0].window, 0);
}

TEST(Gguf, LatentAttentionCachesOneVectorForAllHeads) {
  GgufText file;
  file.text("general.architecture", "deepseek2")
      .whole("deepseek2.block_count", 1)
      .whole("deepseek2.embedding_length", 512)
      .whole("deepseek2.attention.head_count", 4)
      .whole("deepseek2.attention.head_count_kv", 1)
      .whole("deepseek2.attention.kv_lora_rank", 128)
      .whole("deepseek2.attention.key_length", 160)
      .whole("deepseek2.attention.value_length", 128)
      .whole("deepseek2.attention.key_length_mla", 96)
      .whole("deepseek2.attention.value_length_mla", 64)
      .whole("deepseek2.rope.dimension_count", 32);
  add_outside(file)
      .tensor("blk.0.attn_q.weight", {512, 4 * 96}, q8_0)
      .tensor("blk.0.attn_kv_a_mqa.weight", {512, 160}, q8_0)
      .tensor("blk.0.attn_k_b.weight", {64, 128, 4}, q8_0)
      .tensor("blk.0.attn_v_b.weight", {128, 64, 4}, q8_0);
  const language::LanguageModel model = read(file.str());
  EXPECT_EQ(model.layers[0].cached_keys, 128 + 32);
  EXPECT_EQ(model.layers[0].cached_values, 0);
  EXPECT_EQ(model.layers[0].heads, 4);
}

class SplitModel {
 public:
  SplitModel() {
    first_.text("general.architecture", "llama")
        .whole("llama.block_count", 1)
        .whole("llama.embedding_length", 512)
        .whole("llama.attention.head_count", 8);
    first_.whole("llama.attention.head_count_kv", 2);
    first_.whole("split.no", 0).whole("split.count", 2).whole("split.tensors.count", 12);
    add_outside(first_);
    second_.whole("split.no", 1).whole("split.count", 2);
    add_layer(second_, 0);
  }
  void write() const {
    write_file(path(1), first_.str());
    write_file(path(2), second_.str());
  }
  [[nodiscard]] std::string path(int part) const {
    return folder_.path() + "/m-0000" + std::to_string(part) + "-of-00002.gguf";
  }
  [[nodiscard]] std::string refusal() const {
    try {
      read_gguf(path(1));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  GgufText first_, second_;

 private:
  test::TemporaryFolder folder_;
};

TEST(GgufParts, AnyPartNamesTheWholeModel) {
  SplitModel model;
  model.write();
  EXPECT_EQ(read_gguf(model.path(1)).layers[0].weights.size(), 9U);
  EXPECT_EQ(read_gguf(model.path(2)).parameters(), read_gguf(model.path(1)).parameters());
}

TEST(GgufParts, AMissingPartIsNamed) {
  SplitModel model;
  model.write();
  std::remove(model.path(2).c_str());
  EXPECT_THAT(model.refusal(),
              AllOf(HasSubstr("one of 2 parts, of which"), HasSubstr("m-00002-of-00002.gguf' is missing")));
}

TEST(GgufParts, PartsThatContradictEachOtherAreRefused) {
  SplitModel twice;
  twice.second_.tensor("output.weight", {512, 1000}, q6_k);
  twice.write();
  EXPECT_THAT(twice.refusal(), HasSubstr("has 13 tensors in all of its parts, but split.tensors.count is 12"));
  SplitModel order;
  order.second_ = GgufText();
  order.second_.whole("split.no", 0);
  order.write();
  EXPECT_THAT(order.refusal(), HasSubstr("should be part 1 (split.no), but says 0"));
}

TEST(GgufParts, APartUnderAnotherNameIsToldApart) {
  SplitModel model;
  EXPECT_THAT(refusal(model.first_.str()),
              HasSubstr("is part 1 of 2 (split.no, split.count), but its name is not of the form"));
}

}  // namespace
}  // namespace emplace::formats::gguf_test
