// The command that a verdict proposes runs exactly as it is printed.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::next_command_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string zoo = "zoo:nmt?layers=2&sequence=4&training=true";
// Two devices with names that no framework knows.
const char* const machine = R"(name = "mine"
[[device]]
name = "big"
kind = "gpu"
memory = "24 GB"
memory_bytes_per_s = 7e11
peak_flops = { default = 1e13 }
efficiency = { default = 0.5 }
[[device]]
name = "small_one"
kind = "gpu"
memory = "8 GB"
memory_bytes_per_s = 3e11
peak_flops = { default = 5e12 }
efficiency = { default = 0.5 }
[[channel]]
name = "bridge"
latency_s = 1e-5
bytes_per_s = 1e10
serves = ["big -> small_one", "small_one -> big"]
)";

class NextCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_ / "open.onnx", small_network(0));
    write_file(folder_ / "mine.toml", machine);
    write_file(folder_ / "two devices.json", example_problem);
  }

  // Runs the program in the test's folder.
  Finished in_folder(const std::string& command) const {
    const std::string program = std::filesystem::absolute(EMPLACE_PROGRAM).parent_path().string();
    return run(
        {"bash", "-c", "cd " + shell_word(folder_ / "") + " && PATH=" + shell_word(program) + ":$PATH && " + command});
  }
  // The proposed command, which must end with exit code 0. Searches are run for a second, not a minute.
  std::string next_of(const std::string& command) const {
    const Finished done = in_folder(command);
    EXPECT_EQ(done.exit_code, 0) << command << "\n" << done.err;
    std::string next;
    std::istringstream lines(done.out);
    for (std::string line; std::getline(lines, line);)
      for (const std::string_view begin : {"next       ", "next: "})
        if (line.starts_with(begin)) next = line.substr(begin.size());
    EXPECT_THAT(next, StartsWith("emplace ")) << done.out;
    const Finished ran = in_folder(std::regex_replace(next, std::regex("(place best .*--seconds) [0-9]+"), "$1 1"));
    EXPECT_EQ(ran.exit_code, 0) << next << "\n" << ran.err;
    return next;
  }
  TemporaryFolder folder_;
};

TEST_F(NextCommand, OfAutoRunsAsItIsPrinted) {
  EXPECT_THAT(next_of("emplace auto open.onnx mine.toml --batch 2 --fuse --pin '*=small_one' --seconds 1 -o a.json"),
              StartsWith("emplace export a.json --for onnx --model open.onnx --batch 2 --fuse "
                         "--problem open.onnx@mine.toml --rename small_one=gpu:1 -o a.placed.onnx"));
  EXPECT_THAT(next_of("emplace auto open.onnx k40x2 --batch 64 --training --optimizer adam --seconds 0.3"),
              HasSubstr("--training --optimizer adam"));
  EXPECT_THAT(
      next_of("emplace auto '" + zoo + "' k40x2 --seconds 1 -o c.json"),
      StartsWith("emplace place best '" + zoo + "@k40x2' --seconds 60 --start c.json -o c.better.placement.json"));
}

TEST_F(NextCommand, OfPlaceRunsAsItIsPrinted) {
  EXPECT_EQ(next_of("emplace place best open.onnx@mine.toml --shape x=2x3x32x32 --pin '*=big' -o a.json --seconds 1"),
            "emplace export a.json --for onnx --model open.onnx --shape x=2x3x32x32 --problem open.onnx@mine.toml "
            "--rename big=gpu:0 -o a.placed.onnx");
  EXPECT_EQ(next_of("emplace place single 'two devices.json' -o b.json"), "emplace report 'two devices.json' b.json");
  EXPECT_THAT(next_of("emplace place heft '" + zoo + "@k40x2' --schedule priority --max-cuts 3000 -o c.json"),
              StartsWith("emplace place best '" + zoo + "@k40x2' --max-cuts 3000 --schedule priority --seconds 60 "));
  EXPECT_THAT(next_of("emplace place greedy '" + zoo + "@k40x2' --objective pipeline --overlap -o d.json"),
              HasSubstr("--objective pipeline --overlap"));
  EXPECT_THAT(next_of("emplace place greedy 'two devices.json' --objective pipeline -o e.json"),
              StartsWith("emplace "));
}

TEST_F(NextCommand, OfTrainRunsAsItIsPrinted) {
  const std::string few =
      " updates=12 post.samples_per_update=10 grouping=colocation post.elite_fraction=0.2 compare=[]";
  EXPECT_THAT(next_of("emplace train post-published problem=open.onnx@mine.toml batch=2 'pin=[\"*=big\"]' run=a" + few),
              StartsWith("emplace export a --for onnx --rename big=gpu:0 -o a.placed.onnx"));
  EXPECT_THAT(next_of("emplace train post-published 'problem=two devices.json' run=b" + few), StartsWith("emplace "));
  EXPECT_THAT(next_of("emplace train post-published 'problem=" + zoo + "@k40x2' run=c" + few), StartsWith("emplace "));
  EXPECT_THAT(
      next_of("emplace train post-published problem=open.onnx@mine.toml batch=64 roofline.training=true run=d" + few),
      StartsWith("emplace "));
}

TEST_F(NextCommand, OfATrainingOnSeveralProblemsKeepsTheDemandsOnEach) {
  const std::string next = next_of("emplace train post-published 'problems=[\"two devices.json\", \"" + zoo +
                                   "@k40x2\"]' max_cuts=3000 'pin=[\"decoder*=gpu:0\", \"a=gpu:0\"]' updates=1 "
                                   "compare=[] run=e");
  EXPECT_THAT(next, HasSubstr("--pin 'decoder*=gpu:0' --max-cuts 3000"));
}

// Every second op of a chain is on the other device: ONNX Runtime would get 1002 models.
TEST_F(NextCommand, ExportsAsJsonWhatWouldFallIntoTooManyPartsForOnnx) {
  OnnxText onnx;
  onnx.input("x", 1, {4});
  std::string last = "x";
  for (int i = 0; i < 1002; ++i) {
    const std::string name = (i % 2 == 0 ? "a" : "b") + std::to_string(i);
    onnx.node("Relu", name, {last});
    last = name + ":0";
  }
  onnx.output(last);
  write_file(folder_ / "chain.onnx", onnx.model());
  EXPECT_THAT(
      next_of("emplace place single chain.onnx@mine.toml --pin 'a*=big' --pin 'b*=small_one' -o a.json"),
      StartsWith(
          "emplace export a.json --for json --model chain.onnx --problem chain.onnx@mine.toml -o a.placed.json"));
  const Finished refused = in_folder(
      "emplace export a.json --for onnx --model chain.onnx --rename big=gpu:0 "
      "--rename small_one=gpu:1 -o a.onnx");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("1002 parts"));
}

TEST_F(NextCommand, NeverOverwritesAFileThatIsThere) {
  const std::string first = next_of("emplace auto '" + zoo + "' k40x2 --seconds 0.5 -o c.json");
  EXPECT_THAT(first, HasSubstr("-o c.better.placement.json"));
  const std::string second = next_of("emplace auto '" + zoo + "' k40x2 --seconds 0.5 -o c.better.placement.json");
  EXPECT_THAT(second, HasSubstr("--start c.better.placement.json -o c.better-2.placement.json"));
}

TEST_F(NextCommand, IsNoneWhereNoPlacementIsFeasible) {
  write_file(folder_ / "full.json", R"({"emplace": "problem/1", "name": "full", "tensors": [],
    "devices": [{"name": "a", "memory_bytes": 10}], "ops": [{"name": "x", "seconds": [1], "resident_bytes": 20}]})");
  for (const std::string command : {"auto full.json --seconds 1 -o a.json", "place single full.json"}) {
    const Finished done = in_folder("emplace " + command);
    EXPECT_EQ(done.exit_code, 3) << done.err;
    EXPECT_THAT(done.out, Not(HasSubstr("\nnext"))) << command;
  }
}

TEST_F(NextCommand, OfAModelWithoutSizesNamesTheKeysOfTrain) {
  const Finished train = in_folder("emplace train post-published problem=open.onnx@mine.toml run=a");
  EXPECT_EQ(train.exit_code, 2);
  EXPECT_THAT(train.err, HasSubstr("'shape=[\"INPUT=SIZES\"]' or batch=N"));
  EXPECT_THAT(train.err, HasSubstr("roofline.allow_unsized=true"));
  EXPECT_THAT(train.err, Not(HasSubstr("--shape")));
  const Finished place = in_folder("emplace auto open.onnx mine.toml");
  EXPECT_THAT(place.err, HasSubstr("--shape INPUT=SIZES or --batch N"));
}

TEST_F(NextCommand, ComesSoonAfterTrainingHoweverManyPlacersAreCompared) {
  std::vector<std::string> many(400, "\"random\"");
  const Finished done = in_folder("emplace train post-published 'problem=" + zoo +
                                  "@k40x2' seconds=1 run=a 'compare=[" + join(many, ", ") + "]'");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the comparisons ended after 5.1 s (5 s and a tenth of `seconds`): "));
  EXPECT_THAT(done.err, HasSubstr("left out"));
}

}  // namespace
}  // namespace emplace::test::next_command_test
