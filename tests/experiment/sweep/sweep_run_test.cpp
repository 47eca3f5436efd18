// A sweep that is killed at any moment continues as if it had not been killed, with every strategy.
#include "experiment/sweep/sweep_run.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "tests/experiment/sweep/sweeps.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::sweep_run_test {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;

Sweep sweep_with(const std::string& strategy, std::size_t trials = 14, std::int64_t seed = 1) {
  const std::string count = strategy == "grid" ? "" : fmt::format("trials = {}\n", trials);
  const std::string options = strategy == "grid"  ? "[grid]\npoints = 2\n"
                              : strategy == "tpe" ? "[tpe]\nstartup = 4\nbatch = 3\n"
                                                  : "";
  return test::sweep_of(
      fmt::format("problem = \"p.json\"\npolicy = \"post\"\nevaluations = 1000\nstrategy = \"{}\"\nseed = {}\n",
                  strategy, seed) +
      count + options + test::mixed_space.substr(0, test::mixed_space.find("checkpoint_every")));
}

TrialResult result_of(const SweepRun& run, Work work) {
  double sum = 0;
  for (const auto& value : run.strategy().assignment(work.trial).values) sum += value ? std::sin(*value * 3 + 1) : 0.25;
  TrialResult result{.seconds = 2, .updates = 10 * (work.rung + 1), .evaluations = 100 * (work.rung + 1)};
  if (work.trial % 6 == 4)
    result.error = "it failed";
  else
    result.objective = std::exp(sum) * (2 - run.strategy().share(work.rung));
  return result;
}

struct Killed {};

// Runs two works at a time; the process dies before its `steps`th call.
void go_on(const Sweep& sweep, const std::string& file, std::size_t steps, std::multiset<Work>& ended) {
  SweepRun run(sweep, file);
  std::deque<Work> open;
  while (!run.finished()) {
    if (steps-- == 0) throw Killed();
    if (open.size() < 2)
      if (const auto work = run.next()) {
        open.push_back(*work);
        continue;
      }
    ASSERT_FALSE(open.empty());
    run.end(open.front(), result_of(run, open.front()));
    ended.insert(open.front());
    open.pop_front();
  }
  EXPECT_EQ(run.next(), std::nullopt);
}

std::string rows_text(const std::vector<TrialRow>& rows) {
  std::string text;
  for (const TrialRow& row : rows)
    text += fmt::format("{} {} {} {} {} {} {}\n", row.trial, name_of(row.status), row.objective.value_or(-1), row.share,
                        row.updates, row.seconds, row.error);
  return text;
}

class EveryStrategysRun : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const SweepStrategyEntry& entry() const { return sweep_strategies()[GetParam()]; }
};

TEST_P(EveryStrategysRun, EndsEveryWorkOnceHoweverOftenItIsKilled) {
  const TemporaryFolder folder;
  const Sweep sweep = sweep_with(entry().name);
  std::multiset<Work> at_once;
  go_on(sweep, folder / "whole.jsonl", 100000, at_once);
  const std::string whole = rows_text(SweepRun(sweep, folder / "whole.jsonl").rows());

  for (const std::size_t steps : {1, 3, 7}) {
    const std::string file = folder / fmt::format("{}.jsonl", steps);
    std::multiset<Work> ended;
    for (std::size_t kills = 0;; ++kills) {
      ASSERT_LT(kills, 1000U);
      try {
        // A session that begins a work and is killed before the work ends makes no progress: so the next one may make
        // one call more.
        go_on(sweep, file, steps + kills % 3, ended);
        break;
      } catch (const Killed&) {
      }
    }
    EXPECT_EQ(ended.size(), std::set<Work>(ended.begin(), ended.end()).size()) << "no work ends twice";
    const SweepRun run(sweep, file);
    EXPECT_TRUE(run.finished());
    // Kills change the order of results, and one strategy depends on this order.
    if (entry().deterministic) {
      EXPECT_EQ(rows_text(run.rows()), whole);
    }
    for (const TrialRow& row : run.rows())
      EXPECT_TRUE(row.status != TrialStatus::waiting && row.status != TrialStatus::running) << row.trial;
  }
}

TEST_P(EveryStrategysRun, GivesTheSameWorksFromAnyPrefixOfItsRecord) {
  const TemporaryFolder folder;
  const Sweep sweep = sweep_with(entry().name, 9);
  std::multiset<Work> ended;
  go_on(sweep, folder / "whole.jsonl", 100000, ended);
  const std::string text = read_file(folder / "whole.jsonl");
  const std::vector<SweepEvent> events = read_record(folder / "whole.jsonl").events;
  std::size_t end = text.find('\n');
  for (std::size_t prefix = 0; prefix < events.size(); ++prefix, end = text.find('\n', end + 1)) {
    write_file(folder / "prefix.jsonl", text.substr(0, end + 1));
    SweepRun run(sweep, folder / "prefix.jsonl");
    // Works that were begun are returned again, in their order, without beginning them a second time; after that the
    // sequence is the same.
    std::set<Work> open;
    for (std::size_t i = 0; i < prefix; ++i)
      events[i].kind == SweepEvent::Kind::begin ? (void)open.insert(events[i].work) : (void)open.erase(events[i].work);
    ASSERT_EQ(run.interrupted(), open.size());
    for (std::size_t i = 0, count = open.size(); i < count; ++i) {
      const auto work = run.next();
      ASSERT_TRUE(work && open.erase(*work) == 1);
    }
    for (std::size_t i = prefix; i < events.size(); ++i)
      if (events[i].kind == SweepEvent::Kind::begin)
        ASSERT_EQ(run.next(), events[i].work);
      else
        run.end(events[i].work, events[i].result);
    EXPECT_TRUE(run.finished());
    EXPECT_EQ(read_file(folder / "prefix.jsonl"), text);
  }
}

TEST_P(EveryStrategysRun, ComesToTheSameEndFromARecordThatIsCutAtAnyByte) {
  const TemporaryFolder folder;
  const Sweep sweep = sweep_with(entry().name, 9);
  std::multiset<Work> ended;
  go_on(sweep, folder / "whole.jsonl", 100000, ended);
  const std::string whole = rows_text(SweepRun(sweep, folder / "whole.jsonl").rows());
  const std::string text = read_file(folder / "whole.jsonl");
  for (std::size_t cut = 1; cut <= 6; ++cut) {
    write_file(folder / "cut.jsonl", text.substr(0, text.size() * cut / 7));
    const auto kept = read_record(folder / "cut.jsonl").events;
    const auto ends = std::ranges::count(kept, SweepEvent::Kind::end, &SweepEvent::kind);
    std::multiset<Work> later;
    go_on(sweep, folder / "cut.jsonl", 100000, later);
    const auto rows = SweepRun(sweep, folder / "cut.jsonl").rows();
    EXPECT_EQ(rows.size(), SweepRun(sweep, folder / "whole.jsonl").rows().size());
    if (!entry().deterministic) continue;
    EXPECT_EQ(rows_text(rows), whole);
    EXPECT_EQ(static_cast<std::size_t>(ends) + later.size(), ended.size()) << "each work ends once";
  }
}

class EveryRunOfAStrategyThatDraws : public EveryStrategysRun {};

TEST_P(EveryRunOfAStrategyThatDraws, RefusesTheFolderOfAnotherSweep) {
  const TemporaryFolder folder;
  std::multiset<Work> ended;
  go_on(sweep_with(entry().name), folder / "r.jsonl", 100000, ended);
  const Sweep other = sweep_with(entry().name, 14, 2);
  try {
    const SweepRun run(other, folder / "r.jsonl");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("r.jsonl:2: trial 0 has other values than in this sweep: the folder belongs to another sweep"));
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategysRun, ::testing::Range<std::size_t>(0, sweep_strategies().size()),
                         test::name_of_strategy);
INSTANTIATE_TEST_SUITE_P(Strategies, EveryRunOfAStrategyThatDraws, ::testing::ValuesIn(test::strategies_that_draw()),
                         test::name_of_strategy);

TEST(SweepRun, ShowsWhereEveryTrialStands) {
  const TemporaryFolder folder;
  const Sweep sweep = sweep_with("random", 4);
  SweepRun run(sweep, folder / "r.jsonl");
  for (int i = 0; i < 3; ++i) (void)run.next();
  run.end({1, 0}, {.objective = 0.5, .seconds = 3, .updates = 4, .evaluations = 5});
  run.end({0, 0}, {.error = "out of memory", .seconds = 1});
  const auto rows = run.rows();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].status, TrialStatus::failed);
  EXPECT_EQ(rows[0].error, "out of memory");
  EXPECT_EQ(rows[1].status, TrialStatus::finished);
  EXPECT_EQ(rows[1].objective, 0.5);
  EXPECT_EQ(rows[2].status, TrialStatus::running);
  EXPECT_TRUE(rows[2].assignment.has_value());
  EXPECT_EQ(rows[3].status, TrialStatus::waiting);
  EXPECT_FALSE(rows[3].assignment.has_value());
  EXPECT_EQ(run.running(), 1U);
}

TEST(SweepRun, MayBeGivenMoreTrialsWhereTheFirstOnesStayTheSame) {
  const TemporaryFolder folder;
  std::multiset<Work> ended;
  go_on(sweep_with("random", 5), folder / "r.jsonl", 100000, ended);
  go_on(sweep_with("random", 8), folder / "r.jsonl", 100000, ended);
  EXPECT_EQ(ended.size(), 8U);
}

TEST(SweepRun, RefusesAnEndWithoutABeginning) {
  const TemporaryFolder folder;
  SweepRecord(folder / "r.jsonl").add({.kind = SweepEvent::Kind::end, .work = {0, 0}, .result = {.objective = 1}});
  const Sweep sweep = sweep_with("random");
  try {
    const SweepRun run(sweep, folder / "r.jsonl");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("r.jsonl:2: rung 0 of trial 0 ended without having begun"));
  }
}

TEST(SweepRun, TrainsOneTrialByItselfAsItWouldAmongAll) {
  const TemporaryFolder folder;
  const Sweep sweep = sweep_with("random", 6);
  std::multiset<Work> ended;
  go_on(sweep, folder / "all.jsonl", 100000, ended);
  std::vector<std::string> records;
  for (const std::size_t trial : {5, 0, 1, 2, 4, 3}) {  // as an array job may start them
    records.push_back(folder / fmt::format("{}.jsonl", trial));
    SweepRun one(sweep, records.back(), trial);
    const auto work = one.next();
    ASSERT_EQ(work, (Work{trial, 0}));
    EXPECT_EQ(one.next(), std::nullopt);
    one.end(*work, result_of(one, *work));
    EXPECT_TRUE(one.finished());
  }
  EXPECT_EQ(rows_text(collect_rows(sweep, records)), rows_text(SweepRun(sweep, folder / "all.jsonl").rows()));
  records.pop_back();
  EXPECT_EQ(collect_rows(sweep, records)[3].status, TrialStatus::waiting);
  EXPECT_THROW(SweepRun(sweep, folder / "none.jsonl", 6), InputError);
}

}  // namespace
}  // namespace emplace::experiment::sweep_run_test
