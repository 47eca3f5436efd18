// What each runtime would do with the text that it is given: the plan that was meant.
#include "fit/runtime.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <regex>
#include <sstream>

#include "fit/planner.hpp"
#include "tests/fit/small_chains.hpp"
#include "tests/fit/tiny_models.hpp"

namespace emplace::fit {
namespace {

using enum UnitKind;
using Json = nlohmann::json;

// A chain like that of a model with these layers on a host and two accelerators.
struct Subject {
  language::LanguageModel model;
  Chain chain;
  std::vector<std::string> kinds = {"cpu", "gpu", "gpu"};
};
Subject subject(std::int64_t layers, bool with_experts) {
  std::vector<UnitRow> rows = {{input, -1, 1, {1, 1, 1}}};
  for (std::int64_t i = 0; i < layers; ++i) {
    rows.push_back({attention, i, 1, {1, 1, 1}});
    rows.push_back({feed_forward, i, 1, {1, 1, 1}});
    if (with_experts) rows.push_back({experts, i, 1, {1, 1, 1}});
  }
  rows.push_back({output, -1, 1, {1, 1, 1}});
  Chain chain = chain_from(rows, {100, 100, 100}, 1);
  chain.devices = {"cpu", "gpu:0", "gpu:1"};
  return {tiny_model(layers, with_experts ? 4 : 0), std::move(chain)};
}

const RuntimeEntry& runtime(const std::string& name) { return find_entry(runtimes(), name, "runtime"); }

Saying said(const Subject& s, const std::string& name, const Assignment& assignment) {
  return runtime(name).say({s.model, s.chain, assignment, {0, 1, 2}, s.kinds, "m.gguf", {.context = 1024}});
}

// The value after an option of a command line; "" if it is not there.
std::string value_of(const std::string& line, const std::string& option) {
  std::smatch match;
  return std::regex_search(line, match, std::regex(" " + option + " '?([^ ']+)")) ? match[1].str() : "";
}
std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  std::stringstream list(text);
  for (std::string each; std::getline(list, each, ',');)
    numbers.push_back(std::stoi(each.substr(each.find_first_of("0123456789"))));
  return numbers;
}

// Where llama.cpp puts the weights (llama_model::load_tensors): layers by -ngl, -dev and -ts, then the first pattern of
// -ot that a weight's name matches. Devices are numbered as in the subject.
class LlamaCpp {
 public:
  explicit LlamaCpp(const std::string& line, int layers) : layers_(layers) {
    offloaded_ = std::stoi(value_of(line, "-ngl"));
    devices_ = {1, 2};
    if (const std::string given = value_of(line, "-dev"); !given.empty()) {
      devices_.clear();
      for (const int number : numbers_of(given)) devices_.push_back(number + 1);
    }
    shares_.assign(devices_.size(), 1.0F);
    if (const std::string given = value_of(line, "-ts"); !given.empty()) {
      const std::vector<int> numbers = numbers_of(given);
      shares_.assign(numbers.begin(), numbers.end());
    }
    std::partial_sum(shares_.begin(), shares_.end(), shares_.begin());
    for (float& share : shares_) share /= shares_.back();
    const std::regex override_option(" -ot '([^']+)=(CPU|CUDA[0-9]+)'");
    for (std::sregex_iterator i(line.begin(), line.end(), override_option), end; i != end; ++i)
      overrides_.emplace_back(std::regex((*i)[1].str()), (*i)[2] == "CPU" ? 0 : std::stoi((*i)[2].str().substr(4)) + 1);
    if (const std::string first = value_of(line, "--n-cpu-moe"); !first.empty())
      for (int i = 0; i < std::stoi(first); ++i)
        overrides_.emplace_back(std::regex(fmt::format("blk\\.{}\\.ffn_(up|down|gate)_exps", i)), 0);
  }

  [[nodiscard]] int device_of(const std::string& weight, int layer) const {
    for (const auto& [pattern, device] : overrides_)
      if (std::regex_search(weight, pattern)) return device;
    return device_of_layer(layer);
  }
  [[nodiscard]] int device_of_layer(int layer) const {
    const int first = std::max(layers_ + 1 - offloaded_, 0), count = std::min(offloaded_, layers_ + 1);
    if (layer < first) return 0;
    const float at = static_cast<float>(layer - first) / static_cast<float>(count);
    return devices_[static_cast<std::size_t>(std::upper_bound(shares_.begin(), shares_.end(), at) - shares_.begin())];
  }

 private:
  int layers_, offloaded_ = 0;
  std::vector<int> devices_;
  std::vector<float> shares_;
  std::vector<std::pair<std::regex, int>> overrides_;
};

Assignment as_llama_cpp_reads(const Subject& s, const std::string& line) {
  const LlamaCpp runtime(line, static_cast<int>(s.model.layers.size()));
  Assignment assignment;
  for (const Unit& unit : s.chain.units) {
    const auto layer = static_cast<int>(unit.layer);
    const auto weight = [&](const char* name) { return fmt::format("blk.{}.{}.weight", layer, name); };
    int device = 0;
    if (unit.kind == attention) {
      device = runtime.device_of(weight("attn_q"), layer);
      EXPECT_EQ(device, runtime.device_of_layer(layer)) << "the cache stays with the layer";
    }
    if (unit.kind == feed_forward) device = runtime.device_of(weight("ffn_norm"), layer);
    if (unit.kind == feed_forward && s.model.experts == 0) {
      EXPECT_EQ(device, runtime.device_of(weight("ffn_down"), layer));
    }
    if (unit.kind == experts) {
      device = runtime.device_of(weight("ffn_up_exps"), layer);
      EXPECT_EQ(device, runtime.device_of(weight("ffn_gate_exps"), layer));
    }
    if (unit.kind == output) device = runtime.device_of("output.weight", static_cast<int>(s.model.layers.size()));
    assignment.push_back(static_cast<std::uint8_t>(device));
  }
  return assignment;
}

// Whole layers from a list of how many each device has.
Assignment from_counts(const Subject& s, const std::vector<int>& devices, const std::vector<int>& counts) {
  Assignment assignment;
  for (const Unit& unit : s.chain.units) {
    std::int64_t layer = unit.kind == output ? static_cast<std::int64_t>(s.model.layers.size()) - 1
                                             : std::max<std::int64_t>(0, unit.layer);
    std::size_t stage = 0;
    while (layer >= counts[stage]) layer -= counts[stage++];
    assignment.push_back(static_cast<std::uint8_t>(devices[stage]));
  }
  return assignment;
}

std::vector<int> visible(const std::string& text) {
  const std::string given = value_of(" " + std::regex_replace(text, std::regex("="), " "), "CUDA_VISIBLE_DEVICES");
  std::vector<int> devices;
  for (const int number : given.empty() ? std::vector<int>{0, 1} : numbers_of(given)) devices.push_back(number + 1);
  return devices;
}

Assignment as_vllm_reads(const Subject& s, const Saying& saying) {
  const std::string line = " " + std::regex_replace(saying.text, std::regex("="), " ");
  const std::string partition = value_of(line, "VLLM_PP_LAYER_PARTITION");
  const std::vector<int> all = {static_cast<int>(s.model.layers.size())};
  EXPECT_EQ(std::to_string(partition.empty() ? 1 : numbers_of(partition).size()),
            value_of(line, "--pipeline-parallel-size"));
  return from_counts(s, visible(saying.text), partition.empty() ? all : numbers_of(partition));
}

Assignment as_megatron_reads(const Subject& s, const Saying& saying) {
  std::vector<int> counts;
  const std::regex stage("t\\*([0-9]+)");
  for (std::sregex_iterator i(saying.text.begin(), saying.text.end(), stage), end; i != end; ++i)
    counts.push_back(std::stoi((*i)[1]));
  return from_counts(s, visible(saying.notes.empty() ? "" : " " + saying.notes.back()), counts);
}

Assignment as_exo_reads(const Subject& s, const Saying& saying) {
  std::vector<int> devices, counts;
  std::map<int, std::pair<int, int>> shards;  // first layer -> device, layers
  const Json by_device = Json::parse(saying.text);
  for (const auto& [name, shard] : by_device.items()) {
    const auto device = std::ranges::find(s.chain.devices, name) - s.chain.devices.begin();
    shards[shard["start_layer"]] = {static_cast<int>(device),
                                    shard["end_layer"].get<int>() - shard["start_layer"].get<int>() + 1};
  }
  for (const auto& [first, shard] : shards) {
    devices.push_back(shard.first);
    counts.push_back(shard.second);
  }
  return from_counts(s, devices, counts);
}

Assignment as_accelerate_reads(const Subject& s, const Saying& saying) {
  const Json map = Json::parse(saying.text);
  Assignment assignment;
  for (const Unit& unit : s.chain.units) {
    const std::string module = unit.kind == input    ? "model.embed_tokens"
                               : unit.kind == output ? "lm_head"
                                                     : fmt::format("model.layers.{}", unit.layer);
    const Json& device = map.at(module);
    assignment.push_back(device == "cpu" ? 0 : static_cast<std::uint8_t>(device.get<int>() + 1));
  }
  EXPECT_EQ(map.size(), s.model.layers.size() + 4);
  return assignment;
}

Assignment as_onnxruntime_reads(const Subject& s, const Saying& saying) {
  Assignment assignment;
  for (const Unit& unit : s.chain.units) {
    const std::string node = unit.kind == input    ? "/model/embed_tokens"
                             : unit.kind == output ? "/lm_head"
                                                   : fmt::format("/model/layers.{}/", unit.layer);
    int device = -1;
    const std::regex rule("(cpu|gpu:[0-9]+)\\(([^)]*)\\)");
    for (std::sregex_iterator i(saying.text.begin(), saying.text.end(), rule), end; i != end; ++i)
      if ((", " + (*i)[2].str() + ",").find(", " + node + ",") != std::string::npos)
        device = (*i)[1] == "cpu" ? 0 : std::stoi((*i)[1].str().substr(4)) + 1;
    assignment.push_back(static_cast<std::uint8_t>(device));
  }
  return assignment;
}

Assignment as_json_reads(const Subject& s, const Saying& saying) {
  Assignment assignment(s.chain.size(), 255);
  const Json plan = Json::parse(saying.text);
  for (const auto& [device, units] : plan["devices"].items())
    for (const Json& name : units)
      for (std::size_t u = 0; u < s.chain.size(); ++u)
        if (s.chain.units[u].name == name)
          assignment[u] =
              static_cast<std::uint8_t>(std::ranges::find(s.chain.devices, device) - s.chain.devices.begin());
  return assignment;
}

std::optional<Assignment> as_runtime_reads(const std::string& name, const Subject& s, const Saying& saying) {
  if (name == "llama.cpp") return as_llama_cpp_reads(s, saying.text);
  if (name == "vllm") return as_vllm_reads(s, saying);
  if (name == "megatron") return as_megatron_reads(s, saying);
  if (name == "exo") return as_exo_reads(s, saying);
  if (name == "accelerate") return as_accelerate_reads(s, saying);
  if (name == "onnxruntime") return as_onnxruntime_reads(s, saying);
  if (name == "json") return as_json_reads(s, saying);
  EXPECT_EQ(name, "ollama") << "a runtime that no test reads";
  return std::nullopt;
}

TEST(Runtimes, ReadThePlanThatWasMeant) {
  EXPECT_TRUE(rc::check("texts read as their runtimes read them", [] {
    const Subject s = subject(*rc::gen::inRange<std::int64_t>(1, 6), *rc::gen::inRange(0, 2) == 1);
    Assignment assignment;
    std::uint8_t piece = static_cast<std::uint8_t>(*rc::gen::inRange(0, 3));
    const bool swapped = *rc::gen::inRange(0, 2) == 1;
    const auto device = [&](std::uint8_t at) { return static_cast<std::uint8_t>(swapped && at > 0 ? 3 - at : at); };
    const int apart = *rc::gen::inRange(0, 3);  // 0: whole layers
    for (const Unit& unit : s.chain.units) {
      if (unit.kind == attention && piece < 2) piece += static_cast<std::uint8_t>(*rc::gen::inRange(0, 3 - piece));
      const bool free = unit.kind != attention && unit.kind != input && apart > 0;
      assignment.push_back(free && *rc::gen::inRange(0, 2) == 1 ? static_cast<std::uint8_t>(*rc::gen::inRange(0, 3))
                                                                : device(piece));
    }
    if (apart == 2) assignment[0] = 0;
    for (const RuntimeEntry& entry : runtimes()) {
      if (!why_unsayable(entry.rules, s.chain, s.kinds, assignment).empty()) continue;
      const Saying saying = entry.say({s.model, s.chain, assignment, {0, 1, 2}, s.kinds, "m.gguf", {}});
      RC_ASSERT(saying.text.ends_with("\n"));
      if (const auto read = as_runtime_reads(entry.name, s, saying)) {
        RC_LOG() << entry.name << ": " << saying.text;
        RC_ASSERT(*read == assignment);
      }
    }
  }));
}

TEST(Runtimes, SayEveryPlanThatWasMadeForThem) {
  const Subject s = subject(4, true);
  for (const RuntimeEntry& entry : runtimes())
    for (const RuntimeSpace& space : spaces_of(entry.rules, s.chain, s.kinds))
      for (const auto& order : space.orders) {
        const Priced found =
            cheapest(space.merged.chain, space.space, order, Aim::latency, no_prices(s.chain, Aim::latency));
        ASSERT_LT(found.value, no_value) << entry.name;
        EXPECT_EQ(why_unsayable(entry.rules, s.chain, s.kinds, space.merged.expand(found.assignment)), "")
            << entry.name;
      }
}

TEST(Runtimes, HaveNamesSummariesAndSources) {
  for (const RuntimeEntry& entry : runtimes()) {
    EXPECT_THAT(entry.summary, ::testing::EndsWith(".")) << entry.name;
    EXPECT_TRUE(entry.name == "json" || !entry.reference.empty()) << entry.name;
  }
}

TEST(Runtimes, LlamaCppGetsExpertsOfTheFirstLayersWithOneOption) {
  const Subject s = subject(3, true);
  // Everything on gpu:0, but the experts of layers 0 and 1 on the host.
  const Saying saying = said(s, "llama.cpp", {0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1});
  EXPECT_EQ(saying.text, "llama-server -m m.gguf -c 1024 -np 1 -ngl 4 -dev CUDA0 --n-cpu-moe 2\n");
}

TEST(Runtimes, LlamaCppGetsOtherPartsByPatterns) {
  const Subject s = subject(3, true);
  // Layer 0 on the host, 1 on gpu:1 with its experts on gpu:0, 2 on gpu:0; the output on gpu:1.
  const Saying saying = said(s, "llama.cpp", {0, 0, 0, 0, 2, 2, 1, 1, 1, 1, 2});
  EXPECT_EQ(
      saying.text,
      "llama-server -m m.gguf -c 1024 -np 1 -ngl 3 -dev CUDA1,CUDA0 -ts 1,2 -ot 'blk\\.(1)\\.ffn_.*_exps\\.=CUDA0' "
      "-ot '^output=CUDA1'\n");
}

TEST(Runtimes, GetTheTextsOfTheirManuals) {
  const Subject s = subject(3, false);
  const Assignment two_stages = {1, 1, 1, 1, 1, 2, 2, 2};
  EXPECT_EQ(said(s, "vllm", two_stages).text,
            "VLLM_PP_LAYER_PARTITION=2,1 vllm serve m.gguf --pipeline-parallel-size 2 --max-model-len 1024 "
            "--max-num-seqs 1\n");
  EXPECT_EQ(said(s, "megatron", two_stages).text,
            "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*2|t*1L'\n");
  EXPECT_EQ(said(s, "ollama", {0, 0, 0, 1, 1, 1, 1, 1}).text, "PARAMETER num_ctx 1024\nPARAMETER num_gpu 3\n");
  EXPECT_EQ(said(s, "onnxruntime", {0, 0, 0, 1, 1, 1, 1, 1}).text,
            "session.name_based_layer_assignment=cpu(/model/embed_tokens, /model/layers.0/); gpu:0(/model/layers.1/, "
            "/model/layers.2/, /lm_head)\n");
  EXPECT_EQ(Json::parse(said(s, "exo", two_stages).text)["gpu:1"],
            Json::parse(R"({"model_id": "m.gguf", "start_layer": 2, "end_layer": 2, "n_layers": 3})"));
}

// Two groups of two devices in each of two replicas, on one host or on two.
Said parallel_said(const Subject& s, const Assignment& assignment, std::int64_t tensor, std::size_t replicas,
                   const std::vector<std::string>& host_of_replica) {
  Said said{s.model, s.chain, assignment, {0, 1, 2}, s.kinds, "m", {.context = 1024, .sequences = 4}};
  said.parallel.tensor = tensor;
  said.parallel.replicas = replicas;
  std::map<std::string, int> next;
  for (std::size_t r = 0; r < replicas; ++r)
    for (const std::string& kind : s.kinds) {
      said.parallel.accelerators.emplace_back();
      for (std::int64_t i = 0; i < tensor && kind != "cpu"; ++i)
        said.parallel.accelerators.back().push_back({host_of_replica[r], next[host_of_replica[r]]++});
    }
  return said;
}

TEST(Runtimes, TellHowManyDevicesDivideLayersAndHowManyServersRun) {
  const Subject s = subject(3, false);
  const Assignment two_stages = {1, 1, 1, 1, 1, 2, 2, 2}, one_stage(8, 2);
  const std::string options = " --max-model-len 1024 --max-num-seqs 4";
  // Ranks are the parts of the first stage, then those of the second.
  EXPECT_EQ(
      runtime("vllm").say(parallel_said(s, two_stages, 2, 1, {""})).text,
      "VLLM_PP_LAYER_PARTITION=2,1 vllm serve m --tensor-parallel-size 2 --pipeline-parallel-size 2" + options + "\n");
  EXPECT_EQ(runtime("megatron").say(parallel_said(s, two_stages, 2, 1, {""})).text,
            "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --pipeline-model-parallel-layout "
            "'Et*2|t*1L'\n");
  // One server for both replicas: each takes the next two of the devices.
  EXPECT_EQ(runtime("vllm").say(parallel_said(s, one_stage, 2, 2, {"", ""})).text,
            "CUDA_VISIBLE_DEVICES=2,3,6,7 vllm serve m --tensor-parallel-size 2 --pipeline-parallel-size 1 "
            "--data-parallel-size 2" +
                options + "\n");
  // With stages, and on two hosts, each replica is a server.
  EXPECT_EQ(runtime("vllm").say(parallel_said(s, two_stages, 1, 2, {"", ""})).text,
            "VLLM_PP_LAYER_PARTITION=2,1 vllm serve m --pipeline-parallel-size 2" + options +
                " --port 8000\nCUDA_VISIBLE_DEVICES=2,3 VLLM_PP_LAYER_PARTITION=2,1 vllm serve m "
                "--pipeline-parallel-size 2" +
                options + " --port 8001\n");
  const Saying hosts = runtime("vllm").say(parallel_said(s, one_stage, 1, 2, {"host0", "host1"}));
  EXPECT_EQ(std::ranges::count(hosts.text, '\n'), 2);
  EXPECT_THAT(hosts.notes, ::testing::Contains("line 2 is for host1"));
}

TEST(Runtimes, RunAServerForEachReplicaOfAMixtureOfExperts) {
  // One server's replicas would wait for each other in every layer of experts.
  const Subject s = subject(2, true);
  const Assignment one_stage(8, 1);
  const Saying saying = runtime("vllm").say(parallel_said(s, one_stage, 1, 2, {"", ""}));
  EXPECT_THAT(saying.text, ::testing::Not(::testing::HasSubstr("data-parallel")));
  EXPECT_THAT(saying.text, ::testing::HasSubstr("--port 8001\n"));
}

TEST(Runtimes, TakeDevicesOfSeveralHostsInTheOrderOfTheRanks) {
  const Subject s = subject(3, false);
  const Assignment two_stages = {1, 1, 1, 1, 1, 2, 2, 2};
  Said said = parallel_said(s, two_stages, 1, 1, {""});
  said.parallel.accelerators = {{}, {{"host0", 1}}, {{"host1", 0}}};
  const Saying saying = runtime("vllm").say(said);
  EXPECT_THAT(saying.text, ::testing::Not(::testing::HasSubstr("CUDA_VISIBLE_DEVICES")));
  EXPECT_THAT(saying.notes, ::testing::Contains(::testing::HasSubstr("host0/1, host1/0")));
}

TEST(Runtimes, SayWhyTheyCannotDivideLayersOrRunCopies) {
  const Subject s = subject(2, false);
  const Assignment one(6, 1);
  const auto why = [&](const char* name, const Parallel& parallel) {
    return why_unsayable(runtime(name).rules, s.chain, s.kinds, one, parallel);
  };
  EXPECT_THAT(why("exo", {.tensor = 2}), ::testing::HasSubstr("divides no layer among devices"));
  EXPECT_THAT(why("megatron", {.replicas = 3}), ::testing::HasSubstr("this plan has 3"));
  EXPECT_EQ(why("vllm", {.tensor = 2, .replicas = 2}), "");
}

TEST(Runtimes, SayWhyTheyCannotBeToldAPlan) {
  const Subject s = subject(2, true);
  const auto why = [&](const char* name, const Assignment& plan) {
    return why_unsayable(runtime(name).rules, s.chain, s.kinds, plan);
  };
  const Assignment experts_on_host = {0, 1, 1, 0, 1, 1, 0, 1};
  EXPECT_EQ(why("llama.cpp", experts_on_host), "");
  EXPECT_THAT(why("vllm", experts_on_host), ::testing::HasSubstr("computes nothing on cpu"));
  EXPECT_THAT(why("ollama", experts_on_host), ::testing::HasSubstr("together, which are on gpu:0 and cpu"));
  EXPECT_THAT(why("llama.cpp", {0, 1, 1, 1, 2, 2, 2, 2}), "");
  EXPECT_THAT(why("llama.cpp", {0, 1, 1, 1, 0, 0, 0, 0}), ::testing::HasSubstr("cpu comes first"));
  EXPECT_THAT(why("llama.cpp", {1, 1, 1, 1, 1, 1, 1, 1}), ::testing::HasSubstr("embeddings stay on cpu"));
  EXPECT_THAT(why("onnxruntime", {1, 1, 1, 1, 2, 2, 2, 2}),
              ::testing::HasSubstr("one accelerator, not both gpu:0 and gpu:1"));
}

}  // namespace
}  // namespace emplace::fit
