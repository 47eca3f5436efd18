// A run begun by an older program, whose metrics.csv has fewer columns.
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "emplace/formats/problem_json.hpp"
#include "experiment/run/checkpoint.hpp"
#include "experiment/run/metrics.hpp"
#include "experiment/run/metrics_file.hpp"
#include "experiment/run/run_folder.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::older_run_test {
namespace {

constexpr const char *missing = "step_time_q50", *missing_history = "history/step_time_q50";

class OlderRun : public ::testing::Test {
 protected:
  OlderRun() { write_file(folder_ / "p.json", formats::write_problem_json(test::two_chains(1))); }
  // Begins the run if there is none, else resumes it.
  void train(int updates) {
    const ConfigTable recipe = ConfigTable::parse_toml(
        fmt::format("problem = \"{}\"\npolicy = \"post\"\nlearner = \"ppo\"\nupdates = {}\nrun = \"{}\"\n",
                    folder_ / "p.json", updates, run_),
        "r.toml");
    EXPECT_EQ(train_recipe(recipe, nullptr, {}).updates, static_cast<std::uint64_t>(updates));
  }
  // Removes the column, as if an older program had written the file.
  void forget_column() {
    Checkpoint checkpoint = load_newest_checkpoint(run_);
    EXPECT_EQ(checkpoint.arrays.erase(missing_history), 1U);
    save_checkpoint(run_, checkpoint);
    const Metrics metrics = read_metrics(run_ + "/metrics.csv", 100);
    MetricsFile written(run_ + "/metrics.csv", 0);
    for (std::size_t i = 0; i < metrics.points(); ++i) {
      std::vector<std::pair<std::string, double>> row;
      for (const MetricsColumn& column : metrics.columns)
        if (column.name != missing) row.emplace_back(column.name, column.values[i]);
      written.add(row);
    }
  }
  void expect_unfinished() { write_file(run_ + "/status", "interrupted\n"); }

  test::TemporaryFolder folder_;
  const std::string run_ = folder_ / "run";
};

TEST_F(OlderRun, GoesOnWithItsColumnsAndIsReadAgain) {
  train(3);
  forget_column();
  expect_unfinished();
  train(5);
  EXPECT_EQ(read_metrics(run_ + "/metrics.csv", 100).find(missing), nullptr);
  EXPECT_EQ(read_metrics(run_ + "/metrics.csv", 100).updates, 5U);
  const State arrays = load_newest_checkpoint(run_).arrays;
  const auto history = get<double>(arrays, missing_history);
  ASSERT_EQ(history.size(), 5U);
  EXPECT_TRUE(std::isnan(history[0]) && std::isnan(history[2])) << "not known of the first three updates";
  EXPECT_GT(history[3], 0);
  expect_unfinished();
  train(6);
}

}  // namespace
}  // namespace emplace::experiment::older_run_test
