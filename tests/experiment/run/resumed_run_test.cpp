// What a resumed run compares with its checkpoint: the problem, the arrays, the rows of metrics.csv.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "emplace/formats/problem_json.hpp"
#include "experiment/run/checkpoint.hpp"
#include "experiment/run/run_folder.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::resumed_run_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ResumedRun : public ::testing::Test {
 protected:
  ResumedRun() {
    write_file(problem_, formats::write_problem_json(test::two_chains(1)));
    train(3);
    write_file(run_ + "/status", "interrupted\n");
  }
  void train(int updates) const {
    const ConfigTable recipe = ConfigTable::parse_toml(
        fmt::format("problem = \"{}\"\npolicy = \"post\"\nlearner = \"ppo\"\nupdates = {}\ncheckpoint_every = 1\n"
                    "run = \"{}\"\n",
                    problem_, updates, run_),
        "r.toml");
    EXPECT_EQ(train_recipe(recipe, nullptr, {}).updates, static_cast<std::uint64_t>(updates));
  }
  // The message with which the run is not resumed.
  [[nodiscard]] std::string refusal() const {
    try {
      train(5);
    } catch (const InputError& error) {
      return error.what();
    }
    return "resumed";
  }
  void change(const std::function<void(Checkpoint&)>& changes) const {
    Checkpoint checkpoint = load_newest_checkpoint(run_);
    changes(checkpoint);
    save_checkpoint(run_, checkpoint);
  }
  void expect_refused_after(const std::function<void(Checkpoint&)>& changes, const std::string& sentence) const {
    const Checkpoint before = load_newest_checkpoint(run_);
    change(changes);
    EXPECT_THAT(refusal(), AllOf(HasSubstr(run_), HasSubstr(sentence)));
    EXPECT_EQ(read_file(run_ + "/status"), "interrupted\n") << "a refused run stays as it was";
    save_checkpoint(run_, before);
  }
  // The rows of metrics.csv without the clock, which is the last column.
  [[nodiscard]] std::vector<std::string> rows() const {
    std::vector<std::string> lines = split(read_file(run_ + "/metrics.csv"), '\n');
    for (std::string& line : lines) line = line.substr(0, line.rfind(','));
    return lines;
  }
  test::TemporaryFolder folder_;
  const std::string problem_ = folder_ / "p.json", run_ = folder_ / "run", metrics_ = run_ + "/metrics.csv";
};

TEST_F(ResumedRun, IsRefusedWhenItsProblemHasOtherTimes) {
  write_file(problem_, formats::write_problem_json(test::two_chains(10)));
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr(run_), HasSubstr(problem_), HasSubstr("has changed since"), HasSubstr("digest")));
  EXPECT_EQ(read_file(run_ + "/status"), "interrupted\n") << "a refused run stays as it was";
  write_file(problem_, formats::write_problem_json(test::two_chains(1)));
  EXPECT_EQ(refusal(), "resumed");
}

TEST_F(ResumedRun, IsRefusedWhenItsCheckpointDoesNotNameItsProblem) {
  for (const std::string name : {"problems", "held_out", "seed", "update"})
    expect_refused_after([&](Checkpoint& checkpoint) { EXPECT_EQ(checkpoint.attributes.erase(name), 1U); },
                         "attribute '" + name + "' of its checkpoint is missing");
}

TEST_F(ResumedRun, GoesOnFromACheckpointOfAnotherVersionWithItsColumnsOfTheMetrics) {
  change([](Checkpoint& checkpoint) {
    checkpoint.attributes.at("program_version") = "0.0.1";
    put(checkpoint.arrays, "history/sharpness", std::vector<double>{1, 2, 3});
    put(checkpoint.arrays, "history/roughness", std::vector<double>{4, 5, 6});
  });
  const std::string text = read_file(metrics_);
  write_file(metrics_, "sharpness," + text);
  EXPECT_EQ(refusal(), "resumed");
  EXPECT_THAT(read_file(metrics_), AllOf(::testing::StartsWith("sharpness,update,"), HasSubstr("\n2,2,32,")));
  const Checkpoint now = load_newest_checkpoint(run_);
  EXPECT_TRUE(now.arrays.contains("history/sharpness"));
  EXPECT_FALSE(now.arrays.contains("history/roughness")) << "it is nowhere else";
  EXPECT_EQ(refusal(), "resumed") << "the checkpoint is of this version now";
}

TEST_F(ResumedRun, RefusesAttributesThatItDoesNotKnow) {
  expect_refused_after([](Checkpoint& checkpoint) { checkpoint.attributes["sead"] = "7"; },
                       "has an attribute 'sead', which this program does not know (did you mean 'seed'?)");
}

TEST_F(ResumedRun, RefusesACheckpointWhosePartsContradictEachOther) {
  const auto values = [](Checkpoint& checkpoint, const char* name) -> std::vector<double>& {
    return std::get<std::vector<double>>(checkpoint.arrays.at(name).data);
  };
  expect_refused_after([](Checkpoint& checkpoint) { checkpoint.attributes.at("seed") = "7"; },
                       "attribute 'seed' of its checkpoint is '7', but its config.toml has 0");
  expect_refused_after([](Checkpoint& checkpoint) { checkpoint.attributes.at("update") = "2"; },
                       "attribute 'update' of its checkpoint is '2', but its trainer/updates has 3");
  expect_refused_after(
      [](Checkpoint& checkpoint) { put_scalar(checkpoint.arrays, "trainer/evaluations", std::uint64_t{1} << 63); },
      "trainer/evaluations is 9223372036854775808, but its history counts 48");
  expect_refused_after(
      [](Checkpoint& checkpoint) {
        std::get<std::vector<std::int64_t>>(checkpoint.arrays.at("trainer/best.0.outcome").data)[0] = 1;
      },
      "trainer/best.0.outcome has the time");
  expect_refused_after(
      [](Checkpoint& checkpoint) {
        std::get<std::vector<std::int64_t>>(checkpoint.arrays.at("trainer/best.0.outcome").data)[0] = -5;
      },
      "which no outcome has");
  expect_refused_after(
      [](Checkpoint& checkpoint) { put_scalar(checkpoint.arrays, "trainer/best.0.evaluation", std::uint64_t{49}); },
      "best.0.evaluation is 49, but there were 48 evaluations");
  for (const char* name : {"history/evaluations", "history/feasible_share", "history/seconds", "history/kl"})
    expect_refused_after([&](Checkpoint& checkpoint) { values(checkpoint, name)[1] = std::nan(""); },
                         fmt::format("{} has a value that is not a number", name));
  expect_refused_after([&](Checkpoint& checkpoint) { values(checkpoint, "history/update")[1] = 7; },
                       "does not count updates and evaluations up at update 2");
  EXPECT_EQ(refusal(), "resumed");
}

TEST_F(ResumedRun, GoesOnWhenItWasBegunBeforeTheProgramHadAnOption) {
  const auto forget = [](std::string text) {
    const std::string line = "group_share = 1.0\n";
    const std::size_t at = text.find(line);
    EXPECT_NE(at, std::string::npos) << text;
    return at == std::string::npos ? text : text.erase(at, line.size());
  };
  write_file(run_ + "/config.toml", forget(read_file(run_ + "/config.toml")));
  change([&](Checkpoint& checkpoint) {
    std::string& config = checkpoint.attributes.at("config");
    config = forget(config);
  });
  EXPECT_EQ(refusal(), "resumed");
}

TEST_F(ResumedRun, RefusesArraysThatItDoesNotKnow) {
  for (const std::string name : {"learner/windows", "trainer/update", "optimizer/third", "policies/logits", "extra"}) {
    const Checkpoint before = load_newest_checkpoint(run_);
    change([&](Checkpoint& checkpoint) { put(checkpoint.arrays, name, std::vector<double>{1}); });
    EXPECT_THAT(refusal(), AllOf(HasSubstr(run_), HasSubstr("has an array '" + name + "'"))) << name;
    save_checkpoint(run_, before);
  }
  change([&](Checkpoint& checkpoint) { put(checkpoint.arrays, "history/a,b", std::vector<double>{1, 2, 3}); });
  EXPECT_THAT(refusal(), HasSubstr("history/a,b"));
  change([&](Checkpoint& checkpoint) {
    checkpoint.arrays.erase("history/a,b");
    put(checkpoint.arrays, "history/foo", std::vector<double>{1, 2, 3});
  });
  EXPECT_THAT(refusal(), HasSubstr("has an array 'history/foo', which this program does not know"));
}

TEST_F(ResumedRun, WritesRowsOfItsMetricsAgainThatAreGone) {
  const std::vector<std::string> before = rows();
  const std::string text = read_file(metrics_);
  for (const std::string& damaged : {std::string(), text.substr(0, text.find('\n') + 5), text.substr(0, 10)}) {
    write_file(metrics_, damaged);
    train(3);
    EXPECT_EQ(read_file(metrics_), text);
  }
  std::filesystem::remove(metrics_);
  train(5);
  const std::vector<std::string> after = rows();
  ASSERT_EQ(after.size(), before.size() + 2);
  EXPECT_TRUE(std::equal(before.begin(), before.end() - 1, after.begin())) << "all but the empty last line";
}

TEST_F(ResumedRun, RefusesAColumnOfItsMetricsThatItDoesNotHave) {
  std::string text = read_file(metrics_);
  const std::string name = "best_step_time", renamed = "best_step_tim";
  text.replace(text.find(name), name.size(), renamed);
  write_file(metrics_, text);
  EXPECT_THAT(refusal(), AllOf(HasSubstr(metrics_ + ":1"), HasSubstr("has a column '" + renamed + "'"),
                               HasSubstr("did you mean '" + name + "'?")));
  EXPECT_EQ(read_file(metrics_), text);
  EXPECT_EQ(read_file(run_ + "/status"), "interrupted\n");
}

TEST_F(ResumedRun, IsNotBegunAgainWhenItWasFinishedAndItsCheckpointsAreGone) {
  for (const char* name : {"/checkpoint.h5", "/checkpoint.previous.h5"}) std::filesystem::remove(run_ + name);
  write_file(run_ + "/status", "finished\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr(run_), HasSubstr("a finished run whose checkpoints"), HasSubstr("are gone")));
  EXPECT_EQ(read_file(run_ + "/status"), "finished\n");
  // Killed before its first checkpoint, a run begins again.
  write_file(run_ + "/status", "running\n");
  EXPECT_EQ(refusal(), "resumed");
}

}  // namespace
}  // namespace emplace::experiment::resumed_run_test
