// Jobs in parallel, searches in chains, and requests to stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/random.hpp"
#include "search/common/placer_pool.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::search::placer_pool_test {
namespace {

using namespace test;

// 40 ops of 1 to 9 ms on three devices, random edges, transfers of 1 ms.
Problem forty_ops() {
  Stream random({.seed = 3});
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 40; ++i) {
    const auto cost = [&] { return 1.0 + random.below(9); };
    ops.push_back({std::to_string(i), {cost(), cost(), cost()}});
    if (i > 0) edges.push_back({random.below(static_cast<std::uint32_t>(i)), i});
  }
  return tiny(plain_devices(3), ops, edges, 1);
}

class PlacerPoolTest : public ::testing::Test {
 protected:
  PlacerRequest request(std::optional<std::uint64_t> evaluations) const {
    PlacerRequest request;
    request.problem = &problem_;
    request.seed = 5;
    request.evaluations = evaluations;
    request.evaluator = evaluator_.get();
    return request;
  }

  const Problem problem_ = forty_ops();
  const Problem* const list_[1] = {&problem_};
  const std::unique_ptr<evaluate::Evaluator> evaluator_ = evaluate::make_local_evaluator(list_, Schedule::fifo);
};

// A pool that reports many workers and ends the last job first.
class BackwardsPool final : public PlacerPool {
 public:
  [[nodiscard]] std::size_t size() const override { return 17; }
  std::vector<std::optional<PoolAnswer>> run(const PlacerRequest& common, std::span<const PoolJob> jobs) override {
    std::vector<std::optional<PoolAnswer>> answers(jobs.size());
    for (std::size_t i = jobs.size(); i-- > 0;) {
      if (auto result = run_job(common, jobs[i])) answers[i] = {std::move(*result), 0};
      widest = std::max(widest, jobs.size());
    }
    return answers;
  }
  std::size_t widest = 0;
};

TEST_F(PlacerPoolTest, SearchesWithinABudgetOfEvaluationsDoNotDependOnThePool) {
  for (const char* method : {"layers", "climb", "anneal", "tabu", "ruin", "brkga", "contracted", "layered", "best"}) {
    const PlacerResult alone = place_with(method, request(5000), {});
    BackwardsPool pool;
    PlacerRequest shared = request(5000);
    shared.pool = &pool;
    const PlacerResult together = place_with(method, shared, {});
    EXPECT_EQ(together.placement, alone.placement) << method;
    EXPECT_EQ(together.outcome, alone.outcome) << method;
    EXPECT_EQ(together.evaluations, alone.evaluations) << method;
    EXPECT_LE(alone.evaluations, 5000U) << method;
    EXPECT_GE(pool.widest, 4U) << method;
  }
}

TEST_F(PlacerPoolTest, WithinABudgetOfSecondsAsManyChainsRunAsThePoolHasWorkers) {
  BackwardsPool pool;
  PlacerRequest timed = request({});
  timed.seconds = 0.05;
  timed.pool = &pool;
  const Placement start{std::vector<std::uint8_t>(problem_.op_count(), 0), {}};
  timed.start = &start;  // so that no time is spent on finding one
  (void)place_with("climb", timed, {});
  EXPECT_EQ(pool.widest, 17U);
}

TEST_F(PlacerPoolTest, AJobThatTheProblemIsNotForHasNoAnswer) {
  // The problem has no expert placement, and the integer program accepts 20 ops at most.
  const PoolJob jobs[] = {{.method = "expert"}, {.method = "single"}, {.method = "milp"}};
  const auto answers = make_local_placer_pool()->run(request(10), jobs);
  EXPECT_FALSE(answers[0]);
  ASSERT_TRUE(answers[1]);
  EXPECT_TRUE(answers[1]->result.outcome.feasible());
  EXPECT_FALSE(answers[2]);
}

TEST_F(PlacerPoolTest, OnceTheTimeIsOverOnlyTheFirstJobRuns) {
  PlacerRequest timed = request({});
  timed.seconds = 1e-9;
  const PoolJob jobs[] = {{.method = "single"}, {.method = "heft"}};
  const auto answers = make_local_placer_pool()->run(timed, jobs);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1]);
}

// Searches that would take very long end after a request to stop, with a placement and the outcome of that placement.
TEST_F(PlacerPoolTest, ARequestToStopEndsPlacersOfTheStepTimeWithTheirBestSoFar) {
  for (const PlacerEntry& entry : placers()) {
    if (entry.only_for.value_or(Objective::step) != Objective::step || entry.unfit) continue;
    for (const int patience : {0, 1, 100}) {
      PlacerRequest impatient = request(1'000'000'000);
      int asked = 0;
      impatient.stop = [&] { return ++asked > patience; };
      const std::string method = entry.name == "device" ? "device:gpu:0" : entry.name;
      const PlacerResult result = place_with(method, impatient, {});
      const evaluate::EvaluationJob job{0, &result.placement};
      EXPECT_EQ(evaluator_->evaluate({&job, 1}).front(), result.outcome) << entry.name;
      EXPECT_LT(result.evaluations, 100'000U) << entry.name;
    }
  }
}

TEST_F(PlacerPoolTest, SearchesTellHowFarTheyAre) {
  for (const char* method : {"random", "anneal", "tabu", "ruin", "brkga", "contracted", "layered", "best"}) {
    PlacerRequest timed = request({});
    timed.seconds = 0.5;
    std::vector<double> progress;
    Outcome last;
    timed.on_progress = [&](const PlacerProgress& news) {
      progress.push_back(news.progress);
      EXPECT_FALSE(news.method.empty()) << method;
      EXPECT_FALSE(last.timed() && better(last, news.best)) << method;
      last = news.best;
    };
    const PlacerResult result = place_with(method, timed, {});
    ASSERT_FALSE(progress.empty()) << method;
    EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end())) << method;
    EXPECT_LE(progress.back(), 1) << method;
    EXPECT_FALSE(better(last, result.outcome)) << method;
  }
}

}  // namespace
}  // namespace emplace::search::placer_pool_test
