#include "experiment/sweep/sweep_table.hpp"

#include <gtest/gtest.h>

#include "tests/experiment/sweep/sweeps.hpp"

namespace emplace::experiment::sweep_table_test {
namespace {

Space space() {
  return test::space_of(
      "policy = [\"post\", \"gdp\"]\ncompare = [[\"a\", \"b\"]]\n"
      "\"gdp.hidden\" = { integers = [8, 64], when = { policy = \"gdp\" } }");
}

std::vector<TrialRow> rows() {
  return {{.trial = 0,
           .status = TrialStatus::finished,
           .objective = 0.25,
           .assignment = space().decode(std::vector<double>{0, 0, 0}),
           .rung = 0,
           .share = 1,
           .updates = 3,
           .evaluations = 60,
           .seconds = 12.5},
          {.trial = 1,
           .status = TrialStatus::failed,
           .assignment = space().decode(std::vector<double>{1, 0, 0}),
           .rung = 0,
           .share = 1,
           .seconds = 7.5,
           .error = "file \"a,b\"\nis missing"},
          {.trial = 2,
           .status = TrialStatus::running,
           .assignment = space().decode(std::vector<double>{1, 0, 1}),
           .rung = 0},
          {.trial = 3}};
}

TEST(SweepTable, HasARowForEachTrialWithQuotesWhereTheyAreNeeded) {
  EXPECT_EQ(sweep_csv(space(), rows()),
            "trial,status,objective,policy,compare,gdp.hidden,rung,share,updates,evaluations,wall_seconds,error\n"
            "0,finished,0.25,post,\"[\"\"a\"\", \"\"b\"\"]\",,0,1,3,60,12.5,\n"
            "1,failed,,gdp,\"[\"\"a\"\", \"\"b\"\"]\",8,0,1,0,0,7.5,\"file \"\"a,b\"\" is missing\"\n"
            "2,running,,gdp,\"[\"\"a\"\", \"\"b\"\"]\",64,0,,,,,\n"
            "3,waiting,,,,,,,,,,\n");
}

TEST(SweepTable, TellsTheBestTrialAndTheExpectedEnd) {
  // 20 s for two budgets, two budgets are left, two trials at once: 10 s.
  EXPECT_EQ(sweep_progress(space(), rows(), {.elapsed_seconds = 15, .planned_budgets = 4, .at_once = 2}),
            "best      250 ms, trial 0: policy = post, compare = [\"a\", \"b\"]\n"
            "trials    1 finished, 0 stopped early, 1 failed, 1 running, 1 remaining\n"
            "time      15 s, expected end in 10 s\n");
}

TEST(SweepTable, KnowsNoEndBeforeTheFirstTrialEndsAndNoneAfterTheLast) {
  const std::vector<TrialRow> waiting(2);
  EXPECT_EQ(sweep_progress(space(), waiting, {.planned_budgets = 2}),
            "best      none yet\n"
            "trials    0 finished, 0 stopped early, 0 failed, 0 running, 2 remaining\n"
            "time      0 s, expected end not known yet\n");
  const std::vector<TrialRow> done = {rows()[0], rows()[1]};
  EXPECT_NE(sweep_progress(space(), done, {.elapsed_seconds = 15, .planned_budgets = 2}).find("time      15 s, done\n"),
            std::string::npos);
}

}  // namespace
}  // namespace emplace::experiment::sweep_table_test
