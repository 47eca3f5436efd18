// Trainings with asynchronous controllers: budgets, columns, resumes, stops and refusals.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "base/files.hpp"
#include "base/text.hpp"
#include "experiment/run/checkpoint.hpp"
#include "tests/end_to_end/bits.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::asynchronous_test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class Asynchronous : public ::testing::Test {
 protected:
  Asynchronous() { write_file(problem_, example_problem); }
  [[nodiscard]] std::vector<std::string> training(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train",
                                          "configs/recipes/colocrl-published.toml",
                                          "problem=" + problem_,
                                          "grouping=op",
                                          "colocrl.hidden=8",
                                          "compare=[]",
                                          "reinforce.asynchronous=true",
                                          "run=" + run_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  [[nodiscard]] std::vector<double> column(const std::string& name) const {
    return get<double>(experiment::load_newest_checkpoint(run_).arrays, "history/" + name);
  }
  // Whether metrics.csv, to which the run may be writing, has an update of this controller.
  [[nodiscard]] bool has_update_of(const std::string& controller) const {
    if (!file_exists(run_ + "/metrics.csv")) return false;
    std::istringstream text(read_file(run_ + "/metrics.csv"));
    std::string line;
    std::getline(text, line);
    const std::vector<std::string> names = split(line, ',');
    const auto column = static_cast<std::size_t>(std::ranges::find(names, "controller") - names.begin());
    while (std::getline(text, line))
      if (const auto cells = split(line, ','); cells.size() == names.size() && cells[column] == controller) return true;
    return false;
  }
  TemporaryFolder folder_;
  const std::string problem_ = folder_ / "problem.json", run_ = folder_ / "run";
};

TEST_F(Asynchronous, ControllersKeepBudgetsAndReportStaleness) {
  const Finished done = emplace_run(4, training({"reinforce.controllers=2", "evaluations=1005", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["evaluations"], 1000);  // 125 updates of 8 placements
  EXPECT_EQ(json["makespan_ps"], 11010341333);
  EXPECT_EQ(column("update").size(), 125u);
  const std::vector<double> staleness = column("staleness");
  double sum = 0;
  for (const double updates : staleness) sum += updates;
  EXPECT_GT(sum, 0);
  EXPECT_DOUBLE_EQ(json["staleness"]["mean"], sum / 125);
  EXPECT_EQ(json["staleness"]["most"], *std::ranges::max_element(staleness));
  EXPECT_THAT(column("controller"), ::testing::Contains(0));
  EXPECT_THAT(column("controller"), ::testing::Contains(1));
  EXPECT_THAT(read_file(run_ + "/metrics.csv"), HasSubstr(",controller,staleness,baseline,"));
}

TEST_F(Asynchronous, OneControllerHasTheColumnsOfASynchronousTraining) {
  ASSERT_EQ(emplace_run(3, training({"updates=20"})).exit_code, 0);
  const std::string run = folder_ / "synchronous";
  ASSERT_EQ(emplace_run(3, training({"updates=20", "reinforce.asynchronous=false", "run=" + run})).exit_code, 0);
  const auto wanted = experiment::load_newest_checkpoint(run).arrays,
             got = experiment::load_newest_checkpoint(run_).arrays;
  for (const auto& [name, array] : wanted)
    if (!name.starts_with("learner/") && name != "history/seconds") {
      ASSERT_TRUE(got.contains(name)) << name;
      EXPECT_EQ(got.at(name), array) << name;
    }
  EXPECT_EQ(got.at("learner/controller.0.baseline"), wanted.at("learner/baseline"));
  EXPECT_THAT(column("staleness"), Each(0));
}

TEST_F(Asynchronous, OneControllerGoesOnToTheSameBits) {
  ASSERT_EQ(emplace_run(2, training({"updates=25"})).exit_code, 0);
  const std::string run = folder_ / "in parts";
  ASSERT_EQ(emplace_run(2, training({"updates=11", "run=" + run})).exit_code, 0);
  ASSERT_EQ(emplace_run(3, {"train", "--resume", run, "updates=25"}).exit_code, 0);
  EXPECT_EQ(metrics_without_clocks(run), metrics_without_clocks(run_));
  EXPECT_EQ(best_placements(run), best_placements(run_));
}

TEST_F(Asynchronous, AStoppedTrainingGoesOnToItsBudget) {
  Process process(under_mpirun(3, command(training({"reinforce.controllers=2", "updates=100000000"}))));
  // On a busy machine there may be a checkpoint before both controllers have learned.
  ASSERT_TRUE(
      comes_true([&] { return file_exists(run_ + "/checkpoint.h5") && has_update_of("0") && has_update_of("1"); }));
  process.signal(SIGUSR1);  // mpirun passes it on
  const Finished done = process.wait(std::chrono::seconds(30));
  EXPECT_EQ(done.exit_code, 75) << done.err;
  const std::size_t updates = column("update").size();
  const State stopped = experiment::load_newest_checkpoint(run_).arrays;
  EXPECT_THAT(get<std::uint64_t>(stopped, "trainer/open_batches"), ::testing::SizeIs(::testing::Le(2)));
  EXPECT_THAT(get<double>(stopped, "learner/controller.1.baseline"), ::testing::SizeIs(1));

  const Finished resumed = emplace_run(3, {"train", "--resume", run_, fmt::format("updates={}", updates + 20)});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(column("update").size(), updates + 20);
  EXPECT_EQ(column("evaluations").back(), 8 * (updates + 20));
  EXPECT_THAT(resumed.out, HasSubstr("staleness of a gradient: "));
}

TEST_F(Asynchronous, NeedsARankForEachControllerAndOneForTheParameters) {
  const std::string problem =
      "reinforce.asynchronous needs 3 MPI ranks or more, one for the parameters and one for each controller, but "
      "there ";
  const Finished alone = emplace_run(training({"reinforce.controllers=2"}));
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr(problem + "is 1: mpirun -np 3 emplace train"));
  const Finished two = emplace_run(2, training({"reinforce.controllers=2"}));
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr(problem + "are 2: mpirun -np 3 emplace train"));
  EXPECT_FALSE(file_exists(run_));
}

TEST_F(Asynchronous, RefusesWhatControllersDoNotDo) {
  for (const auto& [more, says] :
       std::vector<std::pair<std::string, std::string>>{{"held_out=[\"" + problem_ + "\"]", "held-out problems"},
                                                        {"greedy_every=5", "greedy_every"},
                                                        {"workers=simulate+learn", "every controller learns"},
                                                        {"cache=all", "wanted cache = 'none'"}}) {
    const Finished done = emplace_run(training({more}));
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("reinforce.asynchronous does not go with "));
    EXPECT_THAT(done.err, HasSubstr(says));
  }
  const Finished several =
      emplace_run({"train", "configs/recipes/colocrl-published.toml", "reinforce.asynchronous=true",
                   "problems=[\"" + problem_ + "\", \"" + problem_ + "\"]", "run=" + run_});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, HasSubstr("reinforce.asynchronous does not go with several problems"));
}

}  // namespace
}  // namespace emplace::test::asynchronous_test
