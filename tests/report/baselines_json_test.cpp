// What a page compares a placement with: what other placers find, with as much work and time as the training.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/report/found_placements.hpp"

namespace emplace::report::baselines_json_test {
namespace {

using nlohmann::json;
using test::page_of;
using test::quick_limits;
using test::three_ops;
using ::testing::HasSubstr;

// Without the times that placers took, which differ each time.
json without_seconds(json page) {
  for (json& row : page["baselines"]) {
    row.erase("seconds");
    row.erase("learned_at_seconds");
  }
  return page;
}

TEST(BaselinesJson, ComparesWithOtherPlacersAndTheBound) {
  const FoundPlacement placement = three_ops("compare = [\"device:gpu:1\", \"device:gpu:9\"]\n");
  const json page = page_of(placement);
  EXPECT_EQ(page["bound"], 30 * test::ms) << "a beside b and its tensor beside b, then c: no placement is faster";
  std::map<std::string, json> rows;
  for (const json& row : page["baselines"]) rows[row["method"]] = row;
  EXPECT_EQ(rows["post"]["time"], 50 * test::ms);
  EXPECT_EQ(rows["post"]["learned"], true);
  EXPECT_EQ(rows["device:gpu:1"]["time"], 40 * test::ms) << "10 + 20 + 10 ms and no transfer";
  EXPECT_THAT(rows["device:gpu:9"]["reason"].get<std::string>(), HasSubstr("gpu:9"));
  EXPECT_EQ(rows["single"]["time"], 40 * test::ms);
  for (const char* method : {"heft", "climb", "anneal", "tabu", "brkga", "best", "branch-and-bound"}) {
    ASSERT_EQ(rows.count(method), 1U) << method;
    EXPECT_EQ(rows[method]["feasible"], true) << method;
    EXPECT_LE(rows[method]["evaluations"], 100) << method << ": as many as the run";
  }
  EXPECT_EQ(rows.count("milp"), 0U) << "it ends by the clock, and the page would not be the same again";
  EXPECT_EQ(without_seconds(page), without_seconds(page_of(placement))) << "made again it is the same";
  EXPECT_EQ(page["few_baselines"], false);
  PlacementLimits limits;
  limits.placed = 5;  // 3 ops on 2 devices are more
  EXPECT_EQ(page_of(placement, limits)["baselines"].size(), 2U + 1) << "what the recipe names, and what was learned";
  EXPECT_EQ(page_of(placement, limits)["few_baselines"], true);
}

TEST(BaselinesJson, OfAPipelineComparesWithWhatEndsByEvaluations) {
  const json page = page_of(three_ops("objective = \"pipeline\"\n"));
  std::set<std::string> methods;
  for (const json& row : page["baselines"]) methods.insert(row["method"]);
  for (const char* method : {"post", "dpl", "dp", "brkga"}) EXPECT_EQ(methods.count(method), 1U) << method;
  for (const char* method : {"climb", "milp", "best"}) EXPECT_EQ(methods.count(method), 0U) << method;
}

TEST(BaselinesJson, ComparesAtEqualEvaluationsAndEqualTime) {
  // The training had 60 ms after 10 evaluations, 55 ms after 50 and 50 ms after all 100,000; the searches get 20.
  const LearnedCurve curve{.evaluations = 100'000,
                           .at_evaluations = {10, 50, 100'000},
                           .at_seconds = {1, 5, 1000},
                           .best = {0.06, 0.055, 0.05}};
  const FoundPlacement placement = three_ops();
  PlacementLimits limits;
  limits.work = 20 * (placement.problem().op_count() + placement.problem().edge_count());
  const json page = page_of(placement, limits, curve);
  std::map<std::string, json> rows;
  for (const json& row : page["baselines"])
    if (!row["learned"].get<bool>()) rows[row["method"]] = row;
  EXPECT_EQ(rows["single"]["learned_at_evaluations"], nullptr) << "the training had no result so early";
  EXPECT_EQ(rows["random"]["learned_at_evaluations"], 60 * test::ms);
  EXPECT_EQ(rows["random"]["learned_at_seconds"], nullptr) << "it takes far less than a second";
  const json& whole = page["baselines"].front();
  const json& part = page["baselines"].back();
  EXPECT_EQ(whole["time"], 50 * test::ms);
  EXPECT_EQ(whole["evaluations"], 100'000);
  EXPECT_EQ(whole["part"], false);
  EXPECT_EQ(part["part"], true);
  EXPECT_EQ(part["evaluations"], 20);
  EXPECT_EQ(part["time"], 60 * test::ms) << "ranked by what it had after 20 evaluations";
  EXPECT_THAT(page_of(placement, limits, {.evaluations = 100'000})["baselines"].back()["reason"].get<std::string>(),
              HasSubstr("is not known"))
      << "without metrics";
  EXPECT_EQ(page_of(placement, {}, {.evaluations = 20})["baselines"].back()["part"], false)
      << "no other row where the searches get as many evaluations";
}

TEST(BaselinesJson, SimulatesAtMostFourMillionOpsAndEdgesInASearch) {
  const FoundPlacement placement = three_ops();
  const std::size_t size = placement.problem().op_count() + placement.problem().edge_count();
  PlacementLimits limits = quick_limits();
  limits.placed = PlacementLimits().placed;
  const json page = page_of(placement, limits, {.evaluations = 1'000'000'000});
  for (const json& row : page["baselines"])
    if (!row["learned"].get<bool>()) {
      EXPECT_LE(row["evaluations"].get<std::size_t>() * size, 4'000'000U) << row;
    }
}

TEST(LearnedCurve, HasTheBestAtAPointOfTheTraining) {
  const LearnedCurve curve{
      .evaluations = 30, .at_evaluations = {10, 20, 30}, .at_seconds = {1, 2, 3}, .best = {std::nan(""), 0.25, 0.125}};
  EXPECT_EQ(learned_after_evaluations(curve, 9), std::nullopt);
  EXPECT_EQ(learned_after_evaluations(curve, 19), std::nullopt) << "nothing feasible yet";
  EXPECT_EQ(learned_after_evaluations(curve, 20), 250 * test::ms);
  EXPECT_EQ(learned_after_evaluations(curve, 1000), 125 * test::ms);
  EXPECT_EQ(learned_after_seconds(curve, 2.5), 250 * test::ms);
  EXPECT_EQ(learned_after_seconds({}, 1), std::nullopt);
}

}  // namespace
}  // namespace emplace::report::baselines_json_test
