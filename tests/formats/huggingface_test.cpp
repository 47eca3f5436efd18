// Models of Hugging Face from their config.json, with the numbers of parameters that their authors publish.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "emplace/base/error.hpp"
#include "formats/huggingface/huggingface.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::formats::huggingface_test {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class Folder {
 public:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name, std::ios::binary) << text;
  }
  [[nodiscard]] language::LanguageModel read() const { return read_huggingface(folder_.path() + "/config.json"); }
  [[nodiscard]] std::string refusal() const {
    try {
      static_cast<void>(read());
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

 private:
  test::TemporaryFolder folder_;
};

language::LanguageModel model_of(const Json& config) {
  const Folder folder;
  folder.write("config.json", config.dump());
  return folder.read();
}

std::string refusal_of_config(const Json& config) {
  const Folder folder;
  folder.write("config.json", config.dump());
  return folder.refusal();
}

Json llama_3_8b() {
  return {{"model_type", "llama"},          {"hidden_size", 4096},       {"intermediate_size", 14336},
          {"num_hidden_layers", 32},        {"num_attention_heads", 32}, {"num_key_value_heads", 8},
          {"vocab_size", 128256},           {"torch_dtype", "bfloat16"}, {"tie_word_embeddings", false},
          {"max_position_embeddings", 8192}};
}

TEST(HuggingFace, Llama38bHasItsPublishedParameters) {
  const language::LanguageModel model = model_of(llama_3_8b());
  EXPECT_EQ(model.parameters(), 8'030'261'248);
  EXPECT_EQ(model.weight_bytes(), 2 * 8'030'261'248);
  EXPECT_EQ(model.architecture, "llama");
  EXPECT_EQ(model.layers[0].cached_keys, 8 * 128);
}

TEST(HuggingFace, OtherFamiliesHaveTheirPublishedParameters) {
  EXPECT_EQ(model_of({{"model_type", "mixtral"},
                      {"hidden_size", 4096},
                      {"intermediate_size", 14336},
                      {"num_hidden_layers", 32},
                      {"num_attention_heads", 32},
                      {"num_key_value_heads", 8},
                      {"vocab_size", 32000},
                      {"torch_dtype", "bfloat16"},
                      {"num_local_experts", 8},
                      {"num_experts_per_tok", 2},
                      {"sliding_window", nullptr}})
                .parameters(),
            46'702'792'704);  // Mixtral 8x7B
  EXPECT_EQ(model_of({{"model_type", "qwen2"},
                      {"hidden_size", 896},
                      {"intermediate_size", 4864},
                      {"num_hidden_layers", 24},
                      {"num_attention_heads", 14},
                      {"num_key_value_heads", 2},
                      {"vocab_size", 151936},
                      {"torch_dtype", "bfloat16"},
                      {"tie_word_embeddings", true},
                      {"use_sliding_window", false},
                      {"sliding_window", 32768}})
                .parameters(),
            494'032'768);  // Qwen2.5 0.5B
  EXPECT_EQ(model_of({{"model_type", "qwen3_moe"},
                      {"hidden_size", 2048},
                      {"intermediate_size", 6144},
                      {"num_hidden_layers", 48},
                      {"num_attention_heads", 32},
                      {"num_key_value_heads", 4},
                      {"head_dim", 128},
                      {"vocab_size", 151936},
                      {"torch_dtype", "bfloat16"},
                      {"num_experts", 128},
                      {"num_experts_per_tok", 8},
                      {"moe_intermediate_size", 768},
                      {"mlp_only_layers", Json::array()},
                      {"decoder_sparse_step", 1}})
                .parameters(),
            30'532'122'624);  // Qwen3 30B-A3B
  EXPECT_EQ(model_of({{"model_type", "gemma2"},
                      {"hidden_size", 2304},
                      {"intermediate_size", 9216},
                      {"num_hidden_layers", 26},
                      {"num_attention_heads", 8},
                      {"num_key_value_heads", 4},
                      {"head_dim", 256},
                      {"vocab_size", 256000},
                      {"torch_dtype", "float32"},
                      {"sliding_window", 4096}})
                .parameters(),
            2'614'341'888);  // Gemma 2 2B
  EXPECT_EQ(model_of({{"model_type", "gemma3_text"},
                      {"hidden_size", 1152},
                      {"intermediate_size", 6912},
                      {"num_hidden_layers", 26},
                      {"num_attention_heads", 4},
                      {"num_key_value_heads", 1},
                      {"head_dim", 256},
                      {"vocab_size", 262144},
                      {"torch_dtype", "bfloat16"},
                      {"sliding_window", 512},
                      {"sliding_window_pattern", 6}})
                .parameters(),
            999'885'952);  // Gemma 3 1B
  EXPECT_EQ(model_of({{"model_type", "gpt2"},
                      {"n_embd", 768},
                      {"n_layer", 12},
                      {"n_head", 12},
                      {"n_ctx", 1024},
                      {"n_positions", 1024},
                      {"vocab_size", 50257}})
                .parameters(),
            124'439'808);  // GPT-2
}

Json deepseek_v2_lite() {
  return {{"model_type", "deepseek_v2"}, {"hidden_size", 2048},           {"intermediate_size", 10944},
          {"num_hidden_layers", 27},     {"num_attention_heads", 16},     {"num_key_value_heads", 16},
          {"vocab_size", 102400},        {"torch_dtype", "bfloat16"},     {"q_lora_rank", nullptr},
          {"kv_lora_rank", 512},         {"qk_rope_head_dim", 64},        {"qk_nope_head_dim", 128},
          {"v_head_dim", 128},           {"n_routed_experts", 64},        {"num_experts_per_tok", 6},
          {"n_shared_experts", 2},       {"moe_intermediate_size", 1408}, {"first_k_dense_replace", 1},
          {"moe_layer_freq", 1}};
}

TEST(HuggingFace, LatentAttentionAndSharedExpertsOfDeepSeek) {
  const language::LanguageModel model = model_of(deepseek_v2_lite());
  EXPECT_EQ(model.parameters(), 15'706'484'224);  // DeepSeek-V2-Lite
  EXPECT_EQ(model.layers[0].cached_keys, 512 + 64);
  EXPECT_EQ(model.layers[0].cached_values, 0);
  EXPECT_EQ(model.layers[0].find("ffn_up_exps.weight"), nullptr);
  EXPECT_EQ(model.layers[1].find("ffn_up_exps.weight")->sizes, (std::vector<std::int64_t>{2048, 1408, 64}));
  EXPECT_EQ(model.layers[1].find("ffn_up_shexp.weight")->rows(), 2 * 1408);
}

TEST(HuggingFace, WindowsFollowLayerTypesOrTheFamily) {
  Json config = llama_3_8b();
  config["model_type"] = "mistral";
  config["sliding_window"] = 4096;
  EXPECT_EQ(model_of(config).layers[31].window, 4096);
  config["num_hidden_layers"] = 2;
  config["layer_types"] = {"full_attention", "sliding_attention"};
  EXPECT_EQ(model_of(config).layers[0].window, 0);
  EXPECT_EQ(model_of(config).layers[1].window, 4096);
  config["layer_types"] = {"full_attention"};
  EXPECT_THAT(refusal_of_config(config), HasSubstr("layer_types: names 1 layers, but there are 2"));
  config["layer_types"] = {"full_attention", "linear_attention"};
  EXPECT_THAT(refusal_of_config(config), HasSubstr("'linear_attention' is not known"));
}

TEST(HuggingFace, ModelsThatReadImagesAreReadForTheirText) {
  Json config = {{"model_type", "gemma3"},
                 {"torch_dtype", "bfloat16"},
                 {"text_config",
                  {{"model_type", "gemma3_text"},
                   {"hidden_size", 2560},
                   {"intermediate_size", 10240},
                   {"num_hidden_layers", 34},
                   {"sliding_window", 1024}}}};
  const language::LanguageModel model = model_of(config);  // Gemma 3 4B, whose file leaves the heads out
  EXPECT_EQ(model.parameters(), 3'880'263'168);            // 4,300,079,472 with the parts for images
  EXPECT_THAT(model.notes, Contains(HasSubstr("num_attention_heads is 8, as transformers takes it")));
  EXPECT_EQ(model.layers[5].window, 0);
  EXPECT_EQ(model.layers[4].window, 1024);
}

TEST(HuggingFace, QuantisedWeightsHaveTheirScales) {
  Json config = llama_3_8b();
  config["quantization_config"] = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}};
  // 4096 x 4096 values in groups of 128, each with 64 bytes of values, a scale of 2 bytes and a zero point.
  EXPECT_EQ(model_of(config).layers[0].find("attn_q.weight")->bytes, 4096 * 32 * 68);
  EXPECT_EQ(model_of(config).input[0].type, "BF16");
  config["quantization_config"]["bits"] = 3;
  EXPECT_THAT(refusal_of_config(config), HasSubstr("quantization_config.bits: 3 bits are not known here"));
  config["quantization_config"] = {{"quant_method", "magic"}};
  EXPECT_THAT(refusal_of_config(config), HasSubstr("'magic' is not known here"));
}

TEST(HuggingFace, KeysThatAreMissingOrContradictEachOtherAreRefused) {
  const auto with = [](const char* key, const Json& value) {
    Json config = llama_3_8b();
    config[key] = value;
    return refusal_of_config(config);
  };
  EXPECT_THAT(with("num_key_value_heads", 5),
              HasSubstr("num_key_value_heads: 5 key-value heads do not divide 32 heads"));
  EXPECT_THAT(with("num_key_value_heads", 0), HasSubstr("0 key-value heads do not divide 32 heads"));
  EXPECT_THAT(with("num_attention_heads", 24), HasSubstr("24 heads do not divide the width 4096"));
  EXPECT_THAT(with("hidden_size", nullptr), HasSubstr("has no 'hidden_size'"));
  EXPECT_THAT(with("hidden_size", -4096), HasSubstr("hidden_size"));
  EXPECT_THAT(with("num_hidden_layers", 0), HasSubstr("has 0 layers"));
  EXPECT_THAT(with("num_hidden_layers", 1'000'000'000), HasSubstr("layers"));
  EXPECT_THAT(with("intermediate_size", "wide"), HasSubstr("intermediate_size"));
  EXPECT_THAT(with("model_type", "mamba"),
              AllOf(HasSubstr("type 'mamba', which is not known here"), HasSubstr("known: llama, mistral")));
  EXPECT_THAT(with("torch_dtype", "int3"), HasSubstr("'int3' is no type of weights"));
  Json experts = deepseek_v2_lite();
  experts["num_experts_per_tok"] = 65;
  EXPECT_THAT(refusal_of_config(experts), HasSubstr("65 experts are used of 64"));
  EXPECT_THAT(refusal_of_config({{"hidden_size", 3}}), HasSubstr("has no model_type"));
}

// A safetensors file without its weights: the length of the header, the header.
std::string safetensors(const Json& header) {
  const std::string text = header.dump();
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) out[static_cast<std::size_t>(i)] = static_cast<char>(text.size() >> (8 * i));
  return out + text;
}

// One layer of width 8 with 2 heads.
Json tiny_config() {
  return {{"model_type", "llama"},  {"hidden_size", 8},         {"intermediate_size", 16},
          {"num_hidden_layers", 1}, {"num_attention_heads", 2}, {"num_key_value_heads", 1},
          {"vocab_size", 10},       {"torch_dtype", "float16"}};
}

Json tiny_header() {
  Json header = {{"__metadata__", {{"format", "pt"}}}};
  std::int64_t at = 0;
  const auto add = [&](const std::string& name, std::int64_t bytes, const char* type = "F16") {
    header[name] = {{"dtype", type}, {"shape", {bytes}}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  };
  add("model.embed_tokens.weight", 160);
  add("lm_head.weight", 160);
  add("model.norm.weight", 32, "F32");
  const std::string layer = "model.layers.0.";
  add(layer + "input_layernorm.weight", 16);
  add(layer + "post_attention_layernorm.weight", 16);
  for (const char* name : {"q_proj", "o_proj"}) add(layer + "self_attn." + name + ".weight", 128);
  for (const char* name : {"k_proj", "v_proj"}) add(layer + "self_attn." + name + ".weight", 64);
  for (const char* name : {"gate_proj", "up_proj"}) add(layer + "mlp." + name + ".weight", 256);
  add(layer + "mlp.down_proj.qweight", 100, "I32");
  add(layer + "mlp.down_proj.scales", 20);
  add("vision_tower.weight", 1000);
  return header;
}

TEST(Safetensors, StoredBytesReplaceThoseOfTheConfig) {
  const Folder folder;
  folder.write("config.json", tiny_config().dump());
  folder.write("model.safetensors", safetensors(tiny_header()));
  const language::LanguageModel model = folder.read();
  EXPECT_EQ(model.layers[0].find("ffn_down.weight")->bytes, 100 + 20);  // packed values and scales
  EXPECT_EQ(model.layers[0].find("attn_q.weight")->bytes, 128);
  EXPECT_EQ(model.output[0].bytes, 32);
  EXPECT_EQ(model.output[0].type, "F32");
  EXPECT_THAT(model.notes, Contains(HasSubstr("1000 B of the stored weights are not of the language model")));
}

TEST(Safetensors, AnIndexNamesItsFilesAndAMissingOneIsRefused) {
  const Folder folder;
  folder.write("config.json", tiny_config().dump());
  Json header = tiny_header();
  const Json head = {{"lm_head.weight", header["lm_head.weight"]}};
  header.erase("lm_head.weight");
  folder.write("model.safetensors.index.json",
               Json({{"metadata", {{"total_size", 2000}}},
                     {"weight_map", {{"lm_head.weight", "b.safetensors"}, {"model.norm.weight", "a.safetensors"}}}})
                   .dump());
  EXPECT_THAT(folder.read().notes, Contains(AllOf(HasSubstr("no *.safetensors file is beside it"),
                                                  HasSubstr("the index has 1.95 KiB in all"))));
  folder.write("a.safetensors", safetensors(header));
  EXPECT_THAT(folder.refusal(), HasSubstr("names 'b.safetensors', which is missing"));
  folder.write("b.safetensors", safetensors(head));
  EXPECT_EQ(folder.read().output[1].bytes, 160);
}

TEST(Safetensors, DamagedHeadersAndMissingWeightsAreRefused) {
  const Folder folder;
  folder.write("config.json", tiny_config().dump());
  folder.write("model.safetensors", std::string(8, '\xff') + "{}");
  EXPECT_THAT(folder.refusal(), HasSubstr("its header would have 18446744073709551615 bytes"));
  folder.write("model.safetensors", "short");
  EXPECT_THAT(folder.refusal(), HasSubstr("it has 5 bytes"));
  Json header = tiny_header();
  header.erase("model.layers.0.self_attn.q_proj.weight");
  folder.write("model.safetensors", safetensors(header));
  EXPECT_THAT(folder.refusal(), HasSubstr("hold no weight for attn_q.weight of layer 0"));
  header["model.norm.weight"]["data_offsets"] = {5, 3};
  folder.write("model.safetensors", safetensors(header));
  EXPECT_THAT(folder.refusal(), HasSubstr("ends before it begins"));
}

TEST(HuggingFace, ItsConfigIsToldApartFromOtherJson) {
  EXPECT_TRUE(is_model_config("a/config.json", "{\"hidden_size\": 3"));
  EXPECT_TRUE(is_model_config("b.json", "\n{\"architectures\": [], \"model_type\": \"llama\""));
  EXPECT_FALSE(is_model_config("b.json", "{\"emplace\": \"problem/1\""));
  EXPECT_FALSE(is_model_config("config.json", "[1]"));
}

}  // namespace
}  // namespace emplace::formats::huggingface_test
