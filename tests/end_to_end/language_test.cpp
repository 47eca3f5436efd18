// Language models as GRAPH arguments: GGUF files, config.json and the zoo.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/small_gguf.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::language_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* config =
    R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 2,
        "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 1000, "torch_dtype": "bfloat16"})";

class Language : public ::testing::Test {
 protected:
  Language() {
    write_file(gguf, small_gguf());
    std::filesystem::create_directory(model);
    write_file(model + "/config.json", config);
  }
  static Finished ran(const std::vector<std::string>& arguments) {
    Finished done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done;
  }
  static json result(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    return json::parse(ran(arguments).out);
  }
  TemporaryFolder folder_;
  const std::string gguf = folder_ / "small.gguf", model = folder_ / "model";
};

// The golden was read by a person. Where a change is wanted, write the new text into the file.
TEST_F(Language, InspectPrintsWhatAModelHasAndWhatAStepTakes) {
  std::string text = ran({"inspect", gguf + "?context=1000&sequences=2"}).out;
  for (std::size_t at = 0; (at = text.find(gguf)) != std::string::npos;) text.replace(at, gguf.size(), "small.gguf");
  EXPECT_EQ(text, read_file("tests/golden/inspect/language.txt"));
}

TEST_F(Language, AStepIsPlacedSimulatedExplainedAndBounded) {
  const std::string placement = folder_ / "placement.json";
  for (const std::string& source :
       {gguf + "?context=8192&sequences=4&kv_type=Q8_0", gguf, model, model + "/config.json",
        model + "?phase=prefill&batch=64", std::string("zoo:llama?size=1b&type=Q4_K")}) {
    const std::string problem = source + "@rtx4090-rtx3060";
    const json placed = result({"place", "greedy", problem, "-o", placement});
    EXPECT_GT(placed["makespan_s"], 0) << source;
    EXPECT_EQ(result({"simulate", problem, placement})["makespan_ps"], placed["makespan_ps"]) << source;
    EXPECT_THAT(ran({"explain", problem, placement}).out, HasSubstr("blk.1")) << source;
    EXPECT_GT(result({"bound", problem, "--seconds", "0.2"})["lower_bound_s"], 0) << source;
  }
}

TEST_F(Language, UnitsAreCoLocationGroups) {
  const json problem = json::parse(ran({"cost", gguf, "rtx4090-rtx3060"}).out);
  std::set<std::string> groups;
  for (const json& op : problem["ops"]) groups.insert(op["colocate"].get<std::string>());
  EXPECT_THAT(groups, ::testing::ElementsAre("blk.0.attention", "blk.0.feed_forward", "blk.1.attention",
                                             "blk.1.experts", "blk.1.feed_forward", "input", "output"));
}

TEST_F(Language, OptionsThatAreWrongAreRefusedWithTheNearestName) {
  const auto refused = [&](const std::string& options, const std::string& part) {
    expect_refused_naming({"inspect", gguf + options}, {part});
    expect_refused_naming({"place", "greedy", gguf + options + "@k40x2"}, {part});
  };
  refused("?contxt=8192", "unknown key 'contxt' (did you mean 'context'?)");
  refused("?phase=prefil", "'phase' must be one of decode, prefill, found 'prefil' (did you mean 'prefill'?)");
  refused("?kv_type=Q8_1", "is no type of a KV cache (did you mean 'Q8_0'?)");
  refused("?context=0", "'context' must be at least 1");
  refused("?context=many", "context");
  refused("?sequences=1e12", "'sequences' must be at least 1 and at most 1048576");
  refused("?context=4&length=5", "length is 5, but the context has 4 tokens");
  refused("?context=4&context=5", "'context' is given twice");
  expect_refused_naming({"inspect", gguf, "--batch", "4"}, {"batch and shape are for models with open sizes"});
}

TEST_F(Language, AContextThatFitsOnNoDeviceIsSaidToFitNowhere) {
  const Finished done =
      emplace_run({"place", "greedy", "zoo:llama?size=405b&context=131072@rtx4090-rtx3060", "--evaluations", "10"});
  EXPECT_EQ(done.exit_code, 3) << done.err;
}

TEST_F(Language, AFolderWithoutAModelIsRefused) {
  std::filesystem::create_directory(folder_ / "empty");
  expect_refused_naming({"inspect", folder_ / "empty"}, {"is a folder without a config.toml"});
  write_file(folder_ / "empty/config.json", "{}");
  expect_refused_naming({"inspect", folder_ / "empty"}, {"has no model_type"});
}

}  // namespace
}  // namespace emplace::test::language_test
