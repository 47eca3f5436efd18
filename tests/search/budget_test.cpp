// How placers keep budgets of seconds on large problems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "emplace/base/random.hpp"
#include "search/common/budget_clock.hpp"
#include "search/common/placer_pool.hpp"
#include "search/common/predicted_time.hpp"
#include "search/common/units.hpp"
#include "search/list/idle_times.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/growth.hpp"

namespace emplace::search::budget_test {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Ops of 1 to 9 ms in layers of ten, each with one or two producers in the layer before; every seventh op shares a
// co-location group with the next, and every fifth cannot run on the last device.
Problem layered(std::size_t count, std::size_t devices, std::uint64_t seed = 3) {
  Stream random({.seed = seed});
  std::vector<TinyOp> ops;
  std::vector<std::vector<OpId>> consumers(count);
  for (std::size_t i = 0; i < count; ++i) {
    TinyOp op{std::to_string(i), {}};
    for (std::size_t d = 0; d < devices; ++d) op.milliseconds.push_back(1.0 + random.below(9));
    if (i % 5 == 0) op.milliseconds.back() = no;
    if (i % 7 < 2) op.colocate = "g" + std::to_string(i / 7);
    for (std::size_t k = 0; i >= 10 && k < 1 + i % 2; ++k)
      consumers[(i / 10 - 1) * 10 + (random.below(5) * 2 + k)].emplace_back(i);
    ops.push_back(std::move(op));
  }
  std::vector<TinyEdge> edges;
  ProblemBuilder builder("layered");
  for (Device& device : plain_devices(devices)) builder.add_device(std::move(device));
  for (std::size_t from = 0; from < devices; ++from)
    for (std::size_t to = 0; to < devices; ++to)
      if (from != to) {
        const auto channel = builder.add_channel({std::to_string(from) + ">" + std::to_string(to), 1e-3, 1e30, true});
        builder.add_route(DeviceId{from}, DeviceId{to}, {channel});
      }
  for (const TinyOp& op : ops) {
    OpSpec spec{.name = op.name, .type = "", .seconds = {}, .colocate = op.colocate};
    for (const double time : op.milliseconds) spec.seconds.push_back(time * 1e-3);
    builder.add_op(std::move(spec));
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!consumers[i].empty()) builder.add_tensor(OpId{i}, 8, std::move(consumers[i]));
  return builder.build("layered");
}

struct Placing {
  explicit Placing(const Problem& problem, Schedule schedule = Schedule::fifo)
      : list{&problem}, evaluator(evaluate::make_local_evaluator(list, schedule)) {
    request.problem = &problem;
    request.schedule = schedule;
    request.evaluator = evaluator.get();
  }
  const Problem* const list[1];
  const std::unique_ptr<evaluate::Evaluator> evaluator;
  PlacerRequest request;
};

TEST(IdleTimes, AnswerLikeAListThatIsSearchedFromItsBeginning) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Stream random({.seed = seed});
    IdleTimes times;
    std::map<Ticks, Ticks> plain;
    for (int step = 0; step < 20'000; ++step) {
      const Ticks at = random.below(30'000), length = random.below(100);
      const bool erases = random.below(3) == 0 || plain.size() > 9000;
      const auto next = plain.upper_bound(at);
      if (erases && next != plain.end()) {
        times.erase(next->first);
        plain.erase(next);
      } else if (!erases) {
        times.insert({at, at + length});
        plain.emplace(at, at + length);
      }
      const Ticks from = random.below(32'000), duration = random.below(110);
      std::optional<Ticks> fits;
      auto gap = plain.upper_bound(from);
      const std::optional<Ticks> before = gap == plain.begin() ? std::nullopt : std::optional(std::prev(gap)->first);
      if (before && plain[*before] - from >= duration) fits = from;
      for (; !fits && gap != plain.end(); ++gap)
        if (gap->second - gap->first >= duration) fits = gap->first;
      ASSERT_EQ(times.first_fit(from, duration), fits);
      const auto last = times.at_or_before(from);
      ASSERT_EQ(last.has_value(), before.has_value());
      if (last) {
        ASSERT_EQ(last->begin, *before);
      }
    }
    EXPECT_GT(plain.size(), 5000U);
  }
}

TEST(IdleTimes, OfWhichNoneIsLongEnoughArePassedOverInBlocks) {
  expect_less_than_quadratic_time(
      [](int count) {
        IdleTimes times;
        for (Ticks i = 0; i < count; ++i) {
          times.insert({10 * i, 10 * i + 5});
          EXPECT_FALSE(times.first_fit(0, 6));
        }
      },
      20'000);
}

// Asked to stop at its fourth look at the clock, a scheduler has placed some ops and gives all others a device as well.
TEST(ListSchedulers, LookAtTheClockEvery256OpsAndBalanceTheOpsThatAreLeft) {
  const Problem problem = layered(3000, 3);
  for (const Schedule schedule : {Schedule::fifo, Schedule::in_order})
    for (const char* method : {"heft", "cpop", "peft", "m-etf", "m-sct"}) {
      Placing placing(problem, schedule);
      int asked = 0;
      placing.request.stop = [&] { return ++asked > 3; };
      const PlacerResult result = place_with(method, placing.request, {});
      EXPECT_THAT(result.note, HasSubstr("the time was over when 1024 of 3000 ops were scheduled")) << method;
      EXPECT_TRUE(result.outcome.feasible()) << method;
      const evaluate::EvaluationJob job{0, &result.placement};
      EXPECT_EQ(placing.evaluator->evaluate({&job, 1}).front(), result.outcome) << method;

      placing.request.stop = {};
      const PlacerResult whole = place_with(method, placing.request, {});
      EXPECT_THAT(whole.note, ::testing::Not(HasSubstr("the time was over"))) << method;
      EXPECT_EQ(whole.evaluations, result.evaluations) << method;
    }
}

TEST(ListSchedulers, PlaceAFewOpsInFullHoweverShortTheTimeIs) {
  const Problem problem = layered(200, 3);
  for (const char* method : {"heft", "cpop", "peft", "m-etf", "m-sct"}) {
    Placing placing(problem);
    const Outcome untimed = place_with(method, placing.request, {}).outcome;
    placing.request.seconds = 1e-9;
    EXPECT_EQ(place_with(method, placing.request, {}).outcome, untimed) << method;
  }
}

TEST(Best, RunsEveryQuickPlacerThatFitsItsSeconds) {
  const Problem problem = layered(300, 3);
  Placing placing(problem);
  int asked = 0;
  placing.request.seconds = 1000;
  placing.request.stop = [&] { return ++asked > 2000; };
  const PlacerResult result = place_with("best", placing.request, {});
  std::set<std::string> ran;
  for (const PlacerStep& step : result.steps) ran.insert(step.method);
  for (const std::string& method : quick_placers_by_time(problem, Objective::step)) {
    if (method == "expert" || method == "cpu-only") continue;  // there is no expert and no CPU
    EXPECT_THAT(ran, Contains(method));
    Placing alone(problem);
    EXPECT_FALSE(better(place_with(method, alone.request, {}).outcome, result.outcome)) << method;
  }
}

// Two workers, as far as a placer can tell.
class TwoWorkers final : public PlacerPool {
 public:
  [[nodiscard]] std::size_t size() const override { return 2; }
  std::vector<std::optional<PoolAnswer>> run(const PlacerRequest& common, std::span<const PoolJob> jobs) override {
    return alone_->run(common, jobs);
  }

 private:
  const std::unique_ptr<PlacerPool> alone_ = make_local_placer_pool();
};

TEST(Best, LeavesAQuickPlacerOutThatWouldTakeMoreThanAFifthOfItsSeconds) {
  const Problem problem = layered(3000, 30);
  TwoWorkers two;
  for (PlacerPool* const pool : {static_cast<PlacerPool*>(nullptr), static_cast<PlacerPool*>(&two)}) {
    Placing placing(problem);
    placing.request.pool = pool;
    placing.request.seconds = 4 * predicted_time("heft", problem).first;
    ASSERT_LT(2 * predicted_time("climb", problem).first, 0.8 * *placing.request.seconds) << "a search can begin";
    const PlacerResult result = place_with("best", placing.request, {});
    std::set<std::string> ran;
    for (const PlacerStep& step : result.steps) ran.insert(step.method);
    EXPECT_THAT(ran, Contains("single"));
    EXPECT_THAT(ran, Not(Contains("heft"))) << (pool == nullptr ? "one worker" : "two workers");
  }
}

TEST(Best, GivesQuickPlacersAllItsSecondsWhereNoSearchCanBegin) {
  const Problem problem = layered(40'000, 3);  // 0.3 s, so that a slow or busy machine runs them too
  Placing placing(problem);
  placing.request.seconds = 2 * predicted_time("climb", problem).first;
  ASSERT_GT(2 * predicted_time("climb", problem).first, 0.8 * *placing.request.seconds);
  const PlacerResult result = place_with("best", placing.request, {});
  std::set<std::string> ran;
  for (const PlacerStep& step : result.steps) ran.insert(step.method);
  EXPECT_THAT(ran, Contains("heft"));
}

TEST(QuickPlacers, AreOrderedByTheirPredictedTime) {
  const Problem few = layered(300, 2), many = layered(300, 64), large = layered(4000, 64);
  EXPECT_EQ(quick_placers_by_time(few, Objective::step).front(), "single");
  EXPECT_EQ(quick_placers_by_time(many, Objective::step).front(), "single");
  const auto is_before = [](const Problem& problem, const std::string& a, const std::string& b) {
    const std::vector<std::string> order = quick_placers_by_time(problem, Objective::step);
    return std::ranges::find(order, a) < std::ranges::find(order, b);
  };
  EXPECT_TRUE(is_before(few, "heft", "metis"));
  EXPECT_TRUE(is_before(few, "contiguous", "metis"));
  EXPECT_TRUE(is_before(few, "metis", "m-sct"));  // which solves a linear program where there are few edges
  ASSERT_GT(large.edge_count(), static_cast<std::size_t>(most_edges_of_program));
  EXPECT_TRUE(is_before(large, "m-sct", "scotch"));
  EXPECT_TRUE(is_before(many, "cpop", "contiguous"));  // which tries several placements for each device
}

TEST(Partitioners, RefuseASizeThatDoesNotFitTheirSeconds) {
  ProblemBuilder builder("many");
  for (Device& device : plain_devices(2)) builder.add_device(std::move(device));
  for (int i = 0; i < 2'000'000; ++i) builder.add_op({.name = std::to_string(i), .type = "", .seconds = {1, 1}});
  const Problem problem = builder.build("many");
  Placing placing(problem);
  placing.request.seconds = 0.001;
  for (const char* method : {"metis", "scotch", "mincut"}) {
    const bool is_refused = predicted_time(method, problem).first > 1.001;
    EXPECT_EQ(is_refused, !why_too_long(method, placing.request).empty()) << method;
    if (!is_refused) continue;
    try {
      (void)place_with(method, placing.request, {});
      FAIL() << method;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("it cannot be stopped, takes about"));
      EXPECT_THAT(error.what(), HasSubstr("for 2000000 ops, and the budget has 1 ms"));
    }
  }
  EXPECT_FALSE(why_too_long("metis", placing.request).empty());
  placing.request.seconds = 60;
  EXPECT_EQ(why_too_long("metis", placing.request), "");
  placing.request.seconds = std::nullopt;
  EXPECT_EQ(why_too_long("metis", placing.request), "");
}

TEST(Single, TriesOneOfSeveralEqualDevicesIfItsBudgetIsInSeconds) {
  std::vector<Device> devices = plain_devices(4);
  devices[3].memory = 1 << 20;
  const Problem problem = tiny(devices, {{"a", {2, 2, 1, 2}}, {"b", {2, 2, 4, 2}}}, {{0, 1}});
  Placing placing(problem);
  placing.request.evaluations = 10;
  const PlacerResult counted = place_with("single", placing.request, {});
  EXPECT_EQ(counted.evaluations, 4U);
  placing.request.evaluations = std::nullopt;
  placing.request.seconds = 100;
  const PlacerResult timed = place_with("single", placing.request, {});
  EXPECT_EQ(timed.evaluations, 3U);  // gpu:1 is like gpu:0
  EXPECT_EQ(timed.outcome, counted.outcome);
}

TEST(EqualColumns, AreFoundEvenIfTheyFirstDifferInOneRowFromAThird) {
  const std::vector<Ticks> table = {1, 1, 1, 1, 1,  //
                                    2, 3, 3, 2, 3,  //
                                    4, 4, 5, 4, 4};
  EXPECT_THAT(first_equal_column(table, 5), ElementsAre(0, 1, 2, 0, 1));
}

TEST(BudgetClock, OfNoNameIsRealTime) {
  EXPECT_EQ(clock_of_name(""), BudgetClock::wall);
  EXPECT_EQ(clock_of_name("wall"), BudgetClock::wall);
  EXPECT_EQ(clock_of_name("cpu"), BudgetClock::cpu);
  EXPECT_THROW(clock_of_name("sun"), InputError);
}

}  // namespace
}  // namespace emplace::search::budget_test
