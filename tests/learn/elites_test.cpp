#include "learn/elites.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::elites_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

// An episode of rounds that took these times; each round's action is its number.
void add_episode(std::vector<policy::Rollout>& batch, std::uint32_t sample, const std::vector<double>& milliseconds) {
  for (std::uint32_t r = 0; r < milliseconds.size(); ++r) {
    policy::Rollout round = timed({}, milliseconds[r]);
    if (r > 0) round.actions = {static_cast<std::uint8_t>(r)};
    round.observation = {static_cast<float>(10 * sample + r)};
    round.update = 4;
    round.sample = sample;
    round.round = r;
    batch.push_back(round);
  }
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> samples_and_rounds(const EliteWindow& window) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
  for (const policy::Rollout& rollout : window.elites()) list.emplace_back(rollout.sample, rollout.round);
  return list;
}

TEST(EliteWindow, KeepsAllRoundsOfASampleJudgedByItsLast) {
  // The best single round (1 ms) belongs to the sample that ends worst; the elite ends at 5.
  std::vector<policy::Rollout> batch;
  add_episode(batch, 0, {9, 1, 8});
  add_episode(batch, 1, {9, 9, 5});
  add_episode(batch, 2, {9, 9, 7});
  EliteWindow window(1);
  window.add(batch);
  window.keep_elites();
  EXPECT_EQ(window.samples(), 1u);
  EXPECT_EQ(samples_and_rounds(window), (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 0}, {1, 1}, {1, 2}}));
  EXPECT_DOUBLE_EQ(window.gamma_seconds(), 5e-3);
  EXPECT_THAT(window.elites()[2].observation, ElementsAre(12));
}

TEST(EliteWindow, ChoosesTheElitesOfEachProblemAmongItsOwn) {
  // All samples of problem 1 are slower than every one of problem 0.
  std::vector<policy::Rollout> batch;
  for (const double time : {4, 2, 3}) add_episode(batch, static_cast<std::uint32_t>(batch.size()), {time});
  for (const double time : {30, 20, 40}) add_episode(batch, static_cast<std::uint32_t>(batch.size()), {time});
  for (std::size_t i = 3; i < 6; ++i) batch[i].problem = 1;
  EliteWindow window(2);
  window.add(batch);
  window.keep_elites();
  EXPECT_EQ(samples_and_rounds(window),
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 0}, {2, 0}, {3, 0}, {4, 0}}));
  EXPECT_DOUBLE_EQ(window.gamma_seconds(), (3e-3 + 30e-3) / 2);  // the mean of the problems' slowest elites
}

TEST(EliteWindow, KeepsTheShareOfAProblemThatHasPartOfTheWindow) {
  // 2 elites of 6 samples: of 3 samples, one of them infeasible, 1; of 4 samples 4/3, so 2; of the 6 of problem 2, 2.
  std::vector<policy::Rollout> batch;
  const auto add = [&](std::uint32_t problem, const std::vector<double>& times) {
    for (const double time : times) {
      add_episode(batch, static_cast<std::uint32_t>(batch.size()), {time});
      batch.back().problem = problem;
    }
  };
  add(0, {5, 4, 6});
  batch[2].outcome.why = Infeasible::memory;
  add(1, {7, 8, 9, 6});
  add(2, {1, 2, 3, 4, 5, 6});
  const auto elites = [](const EliteWindow& window) {
    std::vector<std::uint32_t> samples;
    for (const policy::Rollout& rollout : window.elites()) samples.push_back(rollout.sample);
    return samples;
  };
  EliteWindow window(2, 6);
  window.add(batch);
  State state;
  window.save(state);
  window.keep_elites();
  EXPECT_THAT(elites(window), ElementsAre(1, 3, 6, 7, 8));

  const Problem problem = chain_5(2);
  const policy::PolicyProblem list(&problem, make_grouping(problem, GroupingKind::op));
  const ChainPolicy policy({&list, 1});
  EliteWindow loaded(2, 6);
  loaded.load(state, policy, 3);
  loaded.keep_elites();
  EXPECT_THAT(elites(loaded), ElementsAre(1, 3, 6, 7, 8)) << "infeasible samples count after load() too";
  put(state, "window_added", std::vector<std::uint64_t>{0, 3, 1, 1, 2, 6});
  EXPECT_THROW(loaded.load(state, policy, 3), InputError) << "fewer than the window has";
  put(state, "window_added", std::vector<std::uint64_t>{0, 3, 1, 4, 2, 6, 3, 1});
  EXPECT_THROW(loaded.load(state, policy, 3), InputError) << "of a problem that does not exist";

  window.clear();
  window.add(std::span(batch).first(3));
  window.keep_elites();
  EXPECT_THAT(elites(window), ElementsAre(1)) << "clear() forgets the counts";
}

TEST(EliteWindow, KeepsWhatMayStillBeAnEliteAndNotMuchMore) {
  // 500 samples in batches of 10, the best in the middle; every time occurs twice.
  EliteWindow window(20, 500);
  EliteWindow loaded(20, 500);
  const Problem problem = chain_5(2);
  const policy::PolicyProblem list(&problem, make_grouping(problem, GroupingKind::op));
  const ChainPolicy policy({&list, 1});
  for (std::uint32_t begin = 0; begin < 500; begin += 10) {
    std::vector<policy::Rollout> batch;
    for (std::uint32_t sample = begin; sample < begin + 10; ++sample)
      add_episode(batch, sample, {1.0 + std::abs(static_cast<int>(sample / 2) - 120)});
    window.add(batch);
    EXPECT_LE(window.samples(), 46u);
    loaded.add(batch);
    State state;
    loaded.save(state);
    EXPECT_LE(get<std::int64_t>(state, "window_time").size(), 23u) << "the first 20 and ties with the 20th";
    loaded.load(state, policy, 1);
  }
  window.keep_elites();
  loaded.keep_elites();
  EXPECT_EQ(samples_and_rounds(window), samples_and_rounds(loaded));
  EXPECT_EQ(window.samples(), 22u);  // times 1 (once a pair), 2..6 twice: 2 + 4 * 5, the last four a tie
  EXPECT_DOUBLE_EQ(window.gamma_seconds(), 6e-3);
  EXPECT_EQ(window.elites().front().sample, 230u);
}

TEST(EliteWindow, KeepsTheFastestHoweverManyItForgotOnTheWay) {
  EXPECT_TRUE(rc::check("elites are those of all samples, sorted", [] {
    const auto quota = *rc::gen::inRange<std::size_t>(1, 6);
    EliteWindow window(quota);
    std::map<std::uint32_t, std::vector<Ticks>> all;  // by problem
    std::uint32_t sample = 0;
    for (int updates = *rc::gen::inRange(1, 30); updates > 0; --updates) {
      std::vector<policy::Rollout> batch;
      for (const int time : *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 50))) {
        add_episode(batch, sample++, {static_cast<double>(time)});
        batch.back().problem =
            *rc::gen::weightedElement<std::uint32_t>({{8, 0}, {1, 1}});  // one of the problems has few samples
        all[batch.back().problem].push_back(batch.back().outcome.makespan);
      }
      window.add(batch);
    }
    window.keep_elites();
    std::map<std::uint32_t, std::vector<Ticks>> elites;
    for (const policy::Rollout& rollout : window.elites()) elites[rollout.problem].push_back(rollout.outcome.makespan);
    for (auto& [problem, times] : all) {
      std::ranges::sort(times);
      if (times.size() > quota) {
        const Ticks gamma = times[quota - 1];
        std::erase_if(times, [gamma](Ticks time) { return time > gamma; });
      }
      std::ranges::sort(elites[problem]);
      RC_ASSERT(elites[problem] == times);
    }
  }));
}

TEST(EliteWindow, DropsSamplesThatEndInfeasible) {
  std::vector<policy::Rollout> batch;
  add_episode(batch, 0, {9, 1});
  batch.back().outcome.why = Infeasible::memory;
  add_episode(batch, 1, {9, 2});
  batch[2].outcome.why = Infeasible::memory;  // only in an earlier round
  EliteWindow window(5);
  window.add(batch);
  window.keep_elites();
  EXPECT_EQ(samples_and_rounds(window), (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 0}, {1, 1}}));
}

TEST(EliteWindow, ContinuesAfterSaveAndLoad) {
  std::vector<policy::Rollout> batch;
  add_episode(batch, 0, {9, 3, 8});
  add_episode(batch, 1, {9, 5});
  EliteWindow window(2, 4);
  window.add(batch);
  State state;
  window.save(state);
  EliteWindow loaded(2, 4);
  const Problem problem = chain_5(2);
  const policy::PolicyProblem list(&problem, make_grouping(problem, GroupingKind::op));
  const ChainPolicy policy({&list, 1});
  loaded.load(state, policy, 1);
  EXPECT_THAT(policy.checked, ElementsAre(3, 2)) << "each sample with all its rounds";
  State again;
  loaded.save(again);
  EXPECT_EQ(again, state);
  EliteWindow both(2), loaded_both(2);
  both.add(batch);
  both.keep_elites();
  loaded_both.load(state, policy, 1);
  loaded_both.keep_elites();
  ASSERT_EQ(loaded_both.elites().size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    const policy::Rollout& now = loaded_both.elites()[i];
    const policy::Rollout& then = both.elites()[i];
    EXPECT_EQ(now.update, then.update);
    EXPECT_EQ(now.progress, then.progress);
    EXPECT_EQ(now.sample, then.sample);
    EXPECT_EQ(now.round, then.round);
    EXPECT_EQ(now.actions, then.actions);
    EXPECT_EQ(now.observation, then.observation);
  }
  loaded.keep_elites();
  EXPECT_EQ(loaded.samples(), 1u);

  EXPECT_THROW(EliteWindow(1).load(state, policy, 0), InputError) << "of a problem that does not exist";
  // Sample 0 has rounds 0 to 2, sample 1 rounds 0 and 1; a key is update, problem, sample, round, bits of the progress.
  const auto expect_refused = [&](std::size_t row, std::size_t column, std::uint64_t value) {
    auto keys = get<std::uint64_t>(state, "window_key");
    keys[5 * row + column] = value;
    State hostile = state;
    put(hostile, "window_key", keys, {5, 5});
    EXPECT_THROW(EliteWindow(1).load(hostile, policy, 2), InputError) << row << ", " << column << ": " << value;
  };
  expect_refused(0, 3, 7);                                  // begins with round 7
  expect_refused(2, 3, 3);                                  // 0, 1, 3
  expect_refused(1, 0, 5);                                  // of another update than its sample,
  expect_refused(1, 1, 1);                                  // of another problem,
  expect_refused(1, 2, 1);                                  // of another sample
  expect_refused(1, 4, std::bit_cast<std::uint64_t>(0.5));  // of another progress
  for (const double progress : {-0.5, 1.5, std::nan("")}) expect_refused(0, 4, std::bit_cast<std::uint64_t>(progress));
  expect_refused(0, 1, std::uint64_t{1} << 32);
  expect_refused(3, 2, std::uint64_t{1} << 32);
  State torn = state;
  auto times = get<std::int64_t>(state, "window_time");
  times[1] += 1;
  put(torn, "window_time", times);
  EXPECT_THROW(EliteWindow(1).load(torn, policy, 1), InputError) << "rounds of a sample with two times";
}

}  // namespace
}  // namespace emplace::learn::elites_test
