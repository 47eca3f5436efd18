// `emplace fit` as a user runs it.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/small_gguf.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::fit_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FitCommand : public ::testing::Test {
 protected:
  void SetUp() override { write_file(gguf_, small_gguf()); }

  static json fitted(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.insert(arguments.begin(), "fit");
    arguments.emplace_back("--json");
    const Finished done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, exit_code) << done.err;
    return json::parse(done.out);
  }

  TemporaryFolder folder_;
  const std::string gguf_ = folder_ / "model.gguf";
};

TEST_F(FitCommand, PrintsWhetherItFitsHowFastAndTheLine) {
  const Finished done = emplace_run({"fit", gguf_, "rtx4090-rtx3060", "--context", "4096"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  for (const char* part : {"fits       yes", "speed      ", " tokens/s; first token of a prompt of 512 after ",
                           "limit      ", "compared   fill-in-order", "bound      ", "KV cache",
                           "for llama.cpp:\nllama-server -m ", " -c 4096 -np 1 -ngl 3"})
    EXPECT_THAT(done.out, HasSubstr(part));
}

TEST_F(FitCommand, PredictsWhatSimulateSaysOfItsPlacement) {
  for (const char* model : {"zoo:mixtral?type=Q4_K", "zoo:llama?size=70b&type=Q4_K"}) {
    const std::string plan = folder_ / "plan.json";
    const json result =
        fitted({model, "rtx4090-rtx3060", "--context", "8192", "--sequences", "2", "--placement", plan});
    const Finished done =
        emplace_run({"simulate", std::string(model) + "&context=8192&sequences=2@rtx4090-rtx3060", plan, "--json"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.err, "") << "the placement is of this very problem";
    const json simulated = json::parse(done.out);
    EXPECT_EQ(simulated["makespan_s"], result["step_s"]);
    EXPECT_EQ(simulated["feasible"], true);
    EXPECT_DOUBLE_EQ(result["tokens_per_s"].get<double>(), 2 / result["step_s"].get<double>());
    EXPECT_GE(result["upper_bound_tokens_per_s"], result["tokens_per_s"]);
  }
}

TEST_F(FitCommand, IsNeverSlowerThanTheRulesAndFasterWithExpertsOnTheHost) {
  for (const char* machine : {"laptop", "rtx3060-desktop", "rtx4090-rtx3060", "apple-m1-max", "drawn-3"}) {
    const json result = fitted({"zoo:qwen3?size=30b-a3b&type=Q4_K", machine, "--context", "8192"});
    for (const auto& [rule, rate] : result["greedy"].items())
      EXPECT_TRUE(rate.is_null() || result["tokens_per_s"] >= rate) << rule << " on " << machine;
    if (std::string_view(machine) != "laptop") continue;
    EXPECT_GT(result["tokens_per_s"], 1.5 * result["greedy"]["fill-in-order"].get<double>());
    EXPECT_THAT(result["text"], HasSubstr("--n-cpu-moe "));
  }
}

TEST_F(FitCommand, WritesWhatEachRuntimeReads) {
  const std::string file = folder_ / "map.json";
  const json result = fitted({gguf_, "rtx4090-rtx3060", "--runtime", "accelerate", "-o", file, "--reserve", "0"});
  EXPECT_EQ(read_file(file), result["text"]);
  EXPECT_TRUE(json::parse(read_file(file)).contains("model.layers.1"));
  const json runtimes = fitted({gguf_, "rtx4090-rtx3060"})["runtimes"];
  EXPECT_FALSE(runtimes["llama.cpp"]["text"].is_null());
  EXPECT_FALSE(runtimes["vllm"]["reason"].is_null()) << "the embedding is on the host";
}

TEST_F(FitCommand, DividesLayersAndRunsReplicasWhereTheRuntimeCan) {
  const std::vector<std::string> command = {"zoo:llama?size=8b", "a100-nvlink-x4", "--context",   "4096",
                                            "--runtime",         "vllm",           "--sequences", "16"};
  const json one = fitted(command);
  EXPECT_EQ(one["tensor_parallel"], 4);
  EXPECT_EQ(one["replicas"], 1);
  EXPECT_THAT(one["text"], HasSubstr("--tensor-parallel-size 4 --pipeline-parallel-size 1"));
  EXPECT_GT(one["tokens_per_s"], one["alternatives"][0]["tokens_per_s"]);
  EXPECT_GE(one["upper_bound_tokens_per_s"], one["tokens_per_s"]);
  for (const char* device : {"gpu:0", "gpu:3"})
    for (const json& use : one["devices"])
      if (use["name"] == device) {
        EXPECT_EQ(use["units"].size(), 66U) << "a part of every unit";
      }
  EXPECT_FALSE(one["runtimes"]["exo"]["reason"].is_null());
  std::vector<std::string> all = command;
  all.insert(all.end(), {"--objective", "throughput"});
  const json many = fitted(all);
  for (const json& other : many["alternatives"]) EXPECT_GE(many["tokens_per_s"], other["tokens_per_s"]);
  EXPECT_GT(many["alternatives"].size(), 4U);
  all.emplace_back("--layers-in-order");
  const json in_order = fitted(all);
  EXPECT_EQ(in_order["alternatives"].size(), 1U);
  EXPECT_EQ(in_order["tokens_per_s"], many["alternatives"][0]["tokens_per_s"]);
  std::vector<std::string> text = {"fit"};
  text.insert(text.end(), command.begin(), command.end());
  EXPECT_THAT(emplace_run(text).out, AllOf(HasSubstr("parallel   tensor-parallel over 4 devices each: "),
                                           HasSubstr("layers in order: "), HasSubstr("1/4 of input, ")));
}

TEST_F(FitCommand, DrawsTheTimelineOfATokenAlsoOfDividedLayers) {
  const std::string picture = folder_ / "token.svg";
  const Finished done = emplace_run({"fit", "zoo:llama", "a100-nvlink-x2", "--runtime", "vllm", "--timeline", picture});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("the timeline of a token is written to "));
  EXPECT_THAT(read_file(picture), AllOf(StartsWith("<svg"), HasSubstr(">gpu:0-1<"), HasSubstr("ggml.mul_mat")));
  // The same picture as that of its placement.
  const std::string plan = folder_ / "plan.json", again = folder_ / "again.svg";
  ASSERT_EQ(emplace_run({"fit", gguf_, "laptop", "--timeline", picture, "--placement", plan}).exit_code, 0);
  ASSERT_EQ(emplace_run({"simulate", gguf_ + "?context=4096@laptop", plan, "--svg", again}).exit_code, 0);
  EXPECT_EQ(read_file(picture), read_file(again));
}

TEST_F(FitCommand, WritesNoPlacementOfAPlanThatHasOpsOnSeveralDevices) {
  const std::vector<std::string> command = {"fit",  "zoo:llama?size=8b", "a100-nvlink-x4",     "--runtime",
                                            "vllm", "--placement",       folder_ / "plan.json"};
  expect_refused_naming(command, {"--placement", "tensor-parallel", "--layers-in-order"});
  std::vector<std::string> in_order = command;
  in_order.emplace_back("--layers-in-order");
  EXPECT_EQ(emplace_run(in_order).exit_code, 0);
}

TEST_F(FitCommand, HasATableOfOtherContextsAndSequences) {
  const json cells = fitted({gguf_, "laptop", "--what-if"})["what_if"];
  EXPECT_EQ(cells.size(), 20U);
  EXPECT_THAT(emplace_run({"fit", gguf_, "laptop", "--what-if"}).out, HasSubstr("tokens/s at context"));
}

TEST_F(FitCommand, EndsWithThreeWhereNothingFitsAndSaysTheLeastMemory) {
  const std::vector<std::string> command = {"fit", "zoo:llama?size=405b&type=Q4_K", "laptop", "--context", "8192"};
  const Finished done = emplace_run(command);
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.err, AllOf(HasSubstr("a context of 8192 needs at least "), HasSubstr("are missing"),
                              HasSubstr("no context fits")));
  const json result = fitted({command.begin() + 1, command.end()}, 3);
  EXPECT_GT(result["least_bytes"], result["available_bytes"]);
  EXPECT_EQ(result["longest_context"], 0);
  // One sequence of 8192 tokens fits, ten million do not.
  const json too_long = fitted({"zoo:llama?size=8b&type=Q4_K", "laptop", "--context", "10000000"}, 3);
  EXPECT_GT(too_long["longest_context"], 8192);
}

TEST_F(FitCommand, RefusesHostileNumbersAndNames) {
  expect_refused_naming({"fit", gguf_, "laptop", "--context", "0"}, {"--context"});
  expect_refused_naming({"fit", gguf_, "laptop", "--context", "9223372036854775807"}, {"context"});
  expect_refused_naming({"fit", gguf_, "laptop", "--sequences", "9223372036854775807"}, {"sequences"});
  expect_refused_naming({"fit", gguf_, "laptop", "--micro-batch", "9223372036854775807"}, {"batch"});
  expect_refused_naming({"fit", gguf_, "laptop", "--prompt", "5000"}, {"--prompt", "4096"});
  expect_refused_naming({"fit", gguf_, "laptop", "--kv-type", "Q4"}, {"Q4"});
  expect_refused_naming({"fit", gguf_, "laptop", "--reserve", "-1"}, {"--reserve", "'-1'"});
  expect_refused_naming({"fit", gguf_, "laptop", "--reserve", "1e300GB"}, {"--reserve"});
  expect_refused_naming({"fit", gguf_, "laptop", "--runtime", "vlm"}, {"vllm"});
  expect_refused_naming({"fit", gguf_, "laptop", "--objective", "latencies"}, {"latency"});
  expect_refused_naming({"fit", gguf_, "lptop"}, {"laptop"});
  expect_refused_naming({"fit", "zoo:lama", "laptop"}, {"llama"});
  expect_refused_naming({"fit", "zoo:llama?context=8", "laptop"}, {"size and type"});
  expect_refused_naming({"fit", folder_ / "none.gguf", "laptop"}, {"none.gguf"});
}

TEST_F(FitCommand, KeepsItsInputs) {
  expect_refused_naming({"fit", gguf_, "laptop", "-o", gguf_}, {"model.gguf"});
  expect_refused_naming({"fit", gguf_, "laptop", "--timeline", gguf_}, {"model.gguf"});
  const std::string file = folder_ / "out";
  expect_refused_naming({"fit", gguf_, "laptop", "-o", file, "--timeline", file}, {"--timeline", "one file"});
  EXPECT_EQ(read_file(gguf_), small_gguf());
}

TEST_F(FitCommand, ReservesAllMemoryWhereItIsAskedTo) {
  // With nothing left on the accelerator, everything is on the host.
  const json result = fitted({gguf_, "laptop", "--reserve", "100GB"});
  EXPECT_EQ(result["devices"][1]["units"].size(), 0U);
  EXPECT_THAT(result["text"], HasSubstr("-ngl 0"));
}

}  // namespace
}  // namespace emplace::test::fit_test
