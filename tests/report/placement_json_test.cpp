// What a page says of a placement: the same as `explain`, whatever is left out.
#include "report/placement_json.hpp"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <set>

#include "emplace/search/bound.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/report/trained_runs.hpp"
#include "tests/support/random_problem.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::report::placement_json_test {
namespace {

using nlohmann::json;
using test::tiny;
using test::TinyOp;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

FoundPlacement found(Problem problem, Placement placement, const std::string& recipe = "") {
  FoundPlacement all;
  all.loaded = std::make_shared<const source::LoadedProblem>(
      source::LoadedProblem{.problem = std::move(problem), .warnings = {}});
  all.placement = std::move(placement);
  all.recipe = experiment::make_recipe(ConfigTable::parse_toml("problem = \"p.json\"\n" + recipe, "r.toml"));
  all.scoring = {schedule_of(all.recipe.options.schedule, ""), objective_of(all.recipe.options.objective, "")};
  all.units = make_grouping(all.problem(), GroupingKind::colocation);
  return all;
}

json page_of(const FoundPlacement& placement, const PlacementLimits& limits = {},
             const LearnedCurve& curve = {.evaluations = 100}) {
  return json::parse(placement_json(placement, curve, limits).dump());
}

// Limits for pages of which a test makes hundreds.
PlacementLimits quick_limits() {
  PlacementLimits limits;
  limits.bound_seconds = 1e-3;
  limits.moves = {.wanted = 0, .simulations = 0, .work = 0, .guesses = 0, .guessed_ops = 0};
  limits.placed = 0;  // no other placers
  return limits;
}

// Without the times that placers took, which differ each time.
json without_seconds(json page) {
  for (json& row : page["baselines"]) {
    row.erase("seconds");
    row.erase("learned_at_seconds");
  }
  return page;
}

// A timeline as a page's scripts read it: the start of each item of a lane, by its position.
std::vector<std::pair<std::size_t, Ticks>> starts_of(const json& lane, const json& lasts) {
  std::vector<std::pair<std::size_t, Ticks>> starts;
  Ticks last = 0;
  for (std::size_t i = 0; i < lane["items"].size(); ++i) {
    const std::size_t item = lane["items"][i];
    starts.emplace_back(item, last + lane["gaps"][i].get<Ticks>());
    last = starts.back().second + lasts[item].get<Ticks>();
  }
  return starts;
}

// a (10 ms) and b (20 ms) on gpu:0, c (10 ms) on gpu:1 after a and b, whose tensors take 10 ms each: a 0-10, b 10-30,
// the tensor of a 10-20 and that of b 30-40, c 40-50. All but the tensor of a is critical.
FoundPlacement three_ops(const std::string& recipe = "") {
  std::vector<Device> devices = test::plain_devices(2);
  devices[0].memory = 5000;
  return found(tiny(devices, {{"m/a", {10, 10}, "", 1000, 500}, {"m/b", {20, 20}, "", 0, 100}, {"c", {10, 10}}},
                    {{0, 2}, {1, 2}}, 10),
               {{0, 0, 1}, {}}, recipe);
}

TEST(PlacementJson, HasTheStepAsItRuns) {
  const json page = page_of(three_ops());
  EXPECT_TRUE(page["missing"].is_null());
  EXPECT_EQ(page["time"], 50 * test::ms);
  EXPECT_EQ(page["ops"]["names"], (json{"m/a", "m/b", "c"}));
  EXPECT_EQ(page["ops"]["devices"], (json{0, 0, 1}));
  EXPECT_EQ(page["ops"]["made"], (json{500, 100, 0}));
  const json& timeline = page["timeline"];
  ASSERT_EQ(timeline["lanes"].size(), 3U) << "two devices and the channel that is used";
  EXPECT_EQ(timeline["lanes"][0]["name"], "gpu:0");
  EXPECT_EQ(timeline["lanes"][2]["name"], "0>1");
  EXPECT_EQ(timeline["lanes"][2]["items"], (json{0, 1}));
  EXPECT_EQ(timeline["lanes"][2]["gaps"], (json{10 * test::ms, 10 * test::ms}));
  EXPECT_EQ(timeline["transfers"]["ops"], (json{0, 1}));
  EXPECT_EQ(timeline["transfers"]["bytes"], (json{500, 100}));
  EXPECT_EQ(timeline["path"]["steps"], (json{0, 1, -2, 2})) << "a, b, the tensor of b, c";
  EXPECT_EQ(timeline["path"]["waiting"], 10 * test::ms) << "b waited for a's device";
}

// gpu:0 holds 1000 resident, and of outputs 500 until 20 ms and 100 from 10 ms until 40 ms; gpu:1 the copies from the
// begin of each transfer until c ends.
TEST(PlacementJson, HasMemoryWithItsCapacity) {
  const json page = page_of(three_ops());
  const json& first = page["memory"][0];
  EXPECT_EQ(first["capacity"], 5000);
  EXPECT_EQ(first["peak"], 1600);
  EXPECT_EQ(first["peak_at"], 10 * test::ms);
  EXPECT_EQ(first["times"], (json{0, 10 * test::ms, 20 * test::ms, 40 * test::ms, 50 * test::ms}));
  EXPECT_EQ(first["bytes"], (json{1500, 1600, 1100, 1000, 0}));
  EXPECT_EQ(first["resident"], 1000);
  EXPECT_EQ(first["outputs"], 600);
  EXPECT_TRUE(page["memory"][1]["capacity"].is_null());
  EXPECT_EQ(page["memory"][1]["copies"], 600);
}

TEST(PlacementJson, HasTheGraphByTheRunsUnits) {
  FoundPlacement placement = three_ops();
  placement.units = make_grouping(placement.problem(), GroupingKind::colocation, 2);  // c joins a neighbour
  const json groups = page_of(placement)["groups"];
  EXPECT_EQ(groups["units"], 2);
  ASSERT_EQ(groups["nodes"].size(), 2U);
  std::set<int> ops;
  Bytes inside = 0, between = 0;
  for (const json& node : groups["nodes"]) {
    for (const json& op : node["members"]) ops.insert(op.get<int>());
    for (const json& edge : node["inside"]) inside += edge[2].get<Bytes>();
  }
  for (const json& edge : groups["edges"]) between += edge[2].get<Bytes>();
  EXPECT_THAT(ops, ElementsAre(0, 1, 2));
  EXPECT_EQ(inside, 500) << "a's tensor, though it moves: both ends are in one unit";
  EXPECT_EQ(between, 100) << "b's tensor moves between devices";
  EXPECT_EQ(groups["of_ops"][0], groups["of_ops"][2]) << "c was joined with a, of which it reads most bytes";
  Bytes reads = 0, sends = 0;
  for (const json& node : groups["nodes"]) {
    reads += node["reads"].get<Bytes>();
    sends += node["sends"].get<Bytes>();
  }
  EXPECT_EQ(reads, between);
  EXPECT_EQ(sends, between);
}

// Eight ops in four modules on two devices; only the last module is on gpu:1. Its input moves there.
TEST(PlacementJson, HasTheGraphByModulesWithEdgesBetweenDevicesOnly) {
  std::vector<test::TinyOp> ops;
  std::vector<test::TinyEdge> edges;
  for (const char* module : {"stem", "body/0", "body/1", "head"})
    for (const char* op : {"a", "b"}) ops.push_back({std::string(module) + "/" + op, {10, 10}, "", 0, 100});
  for (std::size_t i = 0; i + 1 < ops.size(); ++i) edges.push_back({i, i + 1});
  const FoundPlacement placement = found(tiny(test::plain_devices(2), ops, edges, 10), {{0, 0, 0, 0, 0, 0, 1, 1}, {}});
  const json groups = page_of(placement, quick_limits())["groups"];
  EXPECT_EQ(groups["by_module"], true);
  std::vector<std::string> names;
  for (const json& node : groups["nodes"]) names.push_back(node["name"]);
  EXPECT_THAT(names, ElementsAre("stem", "body/0", "body/1", "head")) << "from inputs to outputs";
  EXPECT_EQ(groups["edges"], (json{{2, 3, 100}})) << "the only tensor that moves between devices";
  EXPECT_EQ(groups["nodes"][2]["sends"], 100);
  EXPECT_EQ(groups["nodes"][3]["reads"], 100);
}

TEST(PlacementJson, NamesAGroupAfterTheScopeOfMostOfItsOps) {
  FoundPlacement placement = three_ops();
  placement.placement.device = {0, 0, 0};
  placement.units = make_grouping(placement.problem(), GroupingKind::colocation, 1);
  EXPECT_EQ(page_of(placement)["groups"]["nodes"][0]["name"], "m/a…b");
}

TEST(PlacementJson, ComparesWithOtherPlacersAndTheBound) {
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

TEST(PlacementJson, UsesTheBoundThatAllMethodsProve) {
  // Three ops of 10 ms on two devices: the load proves 15 ms, but one device has to run two of them.
  const FoundPlacement placement =
      found(tiny(test::plain_devices(2), {{"a", {10, 10}}, {"b", {10, 10}}, {"c", {10, 10}}}, {}), {{0, 0, 1}, {}});
  PlacementLimits limits;
  limits.placed = 0;
  const json page = page_of(placement, limits);
  EXPECT_LT(search::lower_bound(placement.problem()).ticks, 20 * test::ms);
  EXPECT_EQ(page["bound"], 20 * test::ms);
  EXPECT_EQ(page["time"], 20 * test::ms);
  EXPECT_EQ(page["head"]["sentences"],
            (json{"1.50 times as fast as one device ('gpu:0')", "no placement is faster: this one is optimal"}));
}

verdict::Subject of_run() {
  return {.method = "post",
          .outcome = {},
          .commands = {.search = "emplace place best three.json",
                       .start = "--start best.json",
                       .output = "-o better.json",
                       .resume = "emplace train --resume runs/three"}};
}

TEST(PlacementJson, BeginsWithTheVerdictOnThePlacement) {
  FoundPlacement placement = three_ops();
  placement.subject = of_run();
  const json head = page_of(placement)["head"];
  EXPECT_EQ(head["rows"][0], (json{"step time", 50 * test::ms}));
  EXPECT_EQ(head["rows"][1], (json{"one device (gpu:0)", 40 * test::ms}));
  EXPECT_EQ(head["rows"][2][1], 30 * test::ms) << "what the page's own placers found";
  EXPECT_EQ(head["rows"].back()[1], 30 * test::ms);
  EXPECT_EQ(head["sentences"][0], "worse than one device: everything on 'gpu:0' takes 40 ms");
  EXPECT_THAT(head["sentences"][1].get<std::string>(), ::testing::StartsWith("worse than the placement of "));
  EXPECT_EQ(head["next"], "emplace place best three.json --seconds 60 -o better.json")
      << "a better one is known: no --start";
}

TEST(PlacementJson, ProposesToGoOnWithATrainingThatWasStillFalling) {
  FoundPlacement placement = three_ops();
  placement.placement = {{0, 0, 0}, {}};
  placement.subject = of_run();
  placement.recipe.options.compare = {};
  PlacementLimits limits;
  limits.placed = 0;  // no placer that finds a better one
  const LearnedCurve curve{.evaluations = 100, .facts = verdict::CurveFacts{.still_falling = true}, .seconds = 5};
  const json head = page_of(placement, limits, curve)["head"];
  EXPECT_EQ(head["next"], "emplace train --resume runs/three seconds=10");
}

TEST(PlacementJson, SaysWhatLimitsTheStepAndWhichMovesHelp) {
  // a and b keep gpu:0 busy for 30 of 50 ms. The chain b, its tensor, c takes 40 ms, and b waits for a.
  const json limits = page_of(three_ops())["limits"];
  EXPECT_EQ(limits["limits"][0]["kind"], "chain");
  EXPECT_EQ(limits["limits"][1]["name"], "gpu:0");
  EXPECT_EQ(limits["moves_possible"], 3);
  EXPECT_EQ(limits["moves_simulated"], 3);
  // b to gpu:1: a's tensor 10-20, b 0-20, c 20-30. a to gpu:1: b 0-20, its tensor 20-30, c 30-40. c to gpu:0: 30-40.
  ASSERT_EQ(limits["moves"].size(), 3U);
  EXPECT_EQ(limits["moves"][0]["name"], "m/b");
  EXPECT_EQ(limits["moves"][0]["to"], 1);
  EXPECT_EQ(limits["moves"][0]["time"], 30 * test::ms);
  EXPECT_EQ(limits["moves"][1]["time"], 40 * test::ms);
}

TEST(PlacementJson, ComparesAtEqualEvaluationsAndEqualTime) {
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

TEST(PlacementJson, SimulatesAtMostFourMillionOpsAndEdgesInASearch) {
  const FoundPlacement placement = three_ops();
  const std::size_t size = placement.problem().op_count() + placement.problem().edge_count();
  PlacementLimits limits = quick_limits();
  limits.placed = PlacementLimits().placed;
  const json page = page_of(placement, limits, {.evaluations = 1'000'000'000});
  for (const json& row : page["baselines"])
    if (!row["learned"].get<bool>()) EXPECT_LE(row["evaluations"].get<std::size_t>() * size, 4'000'000U) << row;
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

TEST(PlacementJson, OfAPipelineComparesWithWhatEndsByEvaluations) {
  const json page = page_of(three_ops("objective = \"pipeline\"\n"));
  std::set<std::string> methods;
  for (const json& row : page["baselines"]) methods.insert(row["method"]);
  for (const char* method : {"post", "dpl", "dp", "brkga"}) EXPECT_EQ(methods.count(method), 1U) << method;
  for (const char* method : {"climb", "milp", "best"}) EXPECT_EQ(methods.count(method), 0U) << method;
}

TEST(PlacementJson, SaysWhyThereIsNoStepAndDrawsTheRest) {
  FoundPlacement placement = three_ops();
  Problem problem = placement.problem();
  problem.op_time[5] = cannot_run;  // c on gpu:1
  placement.loaded =
      std::make_shared<const source::LoadedProblem>(source::LoadedProblem{.problem = problem, .warnings = {}});
  const json page = page_of(placement);
  EXPECT_TRUE(page["timeline"].is_null());
  EXPECT_TRUE(page["memory"].is_null());
  EXPECT_EQ(page["feasible"], false);
  EXPECT_THAT(page["reason"].get<std::string>(), HasSubstr("'c'"));
  EXPECT_EQ(page["groups"]["nodes"].size(), 3U);
}

TEST(PlacementJson, OfAPipelineHasTheLoadOfEachDevice) {
  const json page = page_of(three_ops("objective = \"pipeline\"\n"));
  EXPECT_TRUE(page["timeline"].is_null());
  ASSERT_EQ(page["loads"].size(), 2U);
  EXPECT_EQ(page["loads"][0]["compute"], 30 * test::ms);
  EXPECT_GE(page["time"], 30 * test::ms);
}

// Every op and transfer begins on the page when it does in the explanation, and the path is the same chain.
TEST(PlacementJson, EqualsTheExplanationOfAnyProblem) {
  EXPECT_TRUE(rc::check("explanation", [](const test::RandomProblem& random, const test::RandomPlacement& genes) {
    const Problem problem = test::problem_of(random);
    const FoundPlacement placement = found(problem, test::placement_of(problem, genes));
    const Explanation e = explain(problem, placement.placement, Schedule::fifo);
    PlacementLimits limits = quick_limits();
    limits.channels = 1000;
    const json page = page_of(placement, limits);
    RC_ASSERT(page["feasible"] == e.outcome.feasible());
    RC_ASSERT(page["timeline"].is_null() != e.outcome.timed());
    if (!e.outcome.timed()) return;
    const json& timeline = page["timeline"];
    std::size_t ops = 0, transfers = 0;
    for (const json& lane : timeline["lanes"]) {
      const bool device = lane["kind"] == "device";
      RC_ASSERT(lane["busy"] == (device ? e.usage.device_busy : e.usage.channel_busy)[lane["id"].get<std::size_t>()]);
      for (const auto& [item, start] : starts_of(lane, (device ? page["ops"] : timeline["transfers"])["lasts"]))
        RC_ASSERT(start == (device ? e.timeline.op_start[item] : e.timeline.transfers[item].start));
      (device ? ops : transfers) += lane["items"].size();
    }
    RC_ASSERT(ops == problem.op_count());
    RC_ASSERT(transfers >= e.timeline.transfers.size());
    RC_ASSERT(timeline["path"]["steps"].size() == e.path.size());
    for (std::size_t i = 0; i < e.path.size(); ++i)
      RC_ASSERT(timeline["path"]["steps"][i] == (e.path[i].is_op()
                                                     ? static_cast<std::int64_t>(e.path[i].op.value)
                                                     : -1 - static_cast<std::int64_t>(e.path[i].transfer)));
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      RC_ASSERT(page["memory"][d]["peak"] == e.usage.device_peak[d]);
    std::size_t members = 0;
    for (const json& node : page["groups"]["nodes"]) members += node["ops"].get<std::size_t>();
    RC_ASSERT(members == problem.op_count());
  }));
}

// With next to nothing allowed the page keeps the critical path, the longest, and producers of the transfers it has.
TEST(PlacementJson, KeepsTheCriticalPathOfWhatIsTooLarge) {
  EXPECT_TRUE(rc::check("limits", [](const test::RandomProblem& random, const test::RandomPlacement& genes) {
    const Problem problem = test::problem_of(random);
    const FoundPlacement placement = found(problem, test::placement_of(problem, genes));
    const Explanation e = explain(problem, placement.placement, Schedule::fifo);
    if (!e.outcome.timed()) return;
    PlacementLimits limits = quick_limits();
    limits.ops = 2, limits.transfers = 1, limits.channels = 1, limits.groups = 3, limits.ops_of_group = 2;
    const json page = page_of(placement, limits);
    const json& names = page["ops"]["names"];
    RC_ASSERT(page["ops"]["total"] == problem.op_count());
    RC_ASSERT(names.size() <= 2 + 2 * e.path.size() + 1);
    for (std::size_t i = 0; i < e.path.size(); ++i) {
      const std::int64_t step = page["timeline"]["path"]["steps"][i];
      if (e.path[i].is_op())
        RC_ASSERT(names[static_cast<std::size_t>(step)] == problem.op_names[e.path[i].op.index()]);
      else
        RC_ASSERT(page["timeline"]["transfers"]["lasts"][static_cast<std::size_t>(-1 - step)] == e.path[i].duration());
    }
    for (const json& op : page["timeline"]["transfers"]["ops"]) RC_ASSERT(op.get<std::size_t>() < names.size());
    for (const json& lane : page["timeline"]["lanes"])
      if (lane["kind"] == "device")
        for (const auto& [item, start] : starts_of(lane, page["ops"]["lasts"])) {
          const auto op =
              std::ranges::find(problem.op_names, names[item].get<std::string>()) - problem.op_names.begin();
          RC_ASSERT(start == e.timeline.op_start[static_cast<std::size_t>(op)]);
        }
    for (const json& node : page["groups"]["nodes"]) RC_ASSERT(node["members"].size() <= 2U);
  }));
}

class FoundPlacements : public ::testing::Test {
 protected:
  std::string run(const std::string& name, const std::string& recipe = "") {
    return test::trained_on(test::two_chains(1), folder_ / name, "compare = []\n" + recipe);
  }
  test::TemporaryFolder folder_;
  ProblemCache shelf_;
};

TEST_F(FoundPlacements, AreWhatTheRunKept) {
  const std::vector<FoundPlacement> list = found_placements(run("run"), 10, shelf_);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].missing, "");
  EXPECT_EQ(list[0].problem().op_count(), 8U);
  EXPECT_EQ(list[0].units.count(), 8U);
  EXPECT_EQ(list[0].placement.device.size(), 8U);
}

TEST_F(FoundPlacements, ShareAProblem) {
  const std::string first = run("first");
  const std::string second = folder_ / "second";
  test::trained(second, fmt::format("problem = \"{}\"\ncompare = []\n", folder_ / "first.problem.json"));
  EXPECT_EQ(found_placements(first, 10, shelf_)[0].loaded, found_placements(second, 10, shelf_)[0].loaded);
}

TEST_F(FoundPlacements, AreOfAsManyProblemsAsThereIsRoomFor) {
  for (const char* name : {"a", "b", "c"})
    write_file(folder_ / (std::string(name) + ".json"),
               formats::write_problem_json(test::two_chains(name[0] - 'a' + 1)));
  const std::string several = test::trained(
      folder_ / "run",
      fmt::format("problems = [\"{}\", \"{}\", \"{}\"]\n", folder_ / "a.json", folder_ / "b.json", folder_ / "c.json"));
  const std::vector<FoundPlacement> list = found_placements(several, 2, shelf_);
  ASSERT_EQ(list.size(), 2U);
  for (const FoundPlacement& each : list) EXPECT_EQ(each.missing, "");
  EXPECT_NE(list[0].loaded, list[1].loaded);
}

TEST_F(FoundPlacements, SayWhatIsNotThere) {
  const std::string folder = run("run"), problem = folder + ".problem.json";
  const std::string kept = read_file(problem);
  const auto missing = [&] {
    ProblemCache shelf;
    return found_placements(folder, 1, shelf).at(0).missing;
  };
  std::filesystem::remove(problem);
  EXPECT_THAT(missing(), HasSubstr("run.problem.json"));
  write_file(problem, formats::write_problem_json(test::chain_5(1)));
  EXPECT_THAT(missing(), HasSubstr("best.placement.json")) << "another problem has its name now";
  write_file(problem, kept);
  EXPECT_EQ(missing(), "");
  std::filesystem::remove(folder + "/best.placement.json");
  EXPECT_THAT(missing(), HasSubstr("has not written a placement yet"));
  write_file(folder + "/config.toml", "problem = \"p.json\"\nsomething = 1\n");
  EXPECT_THAT(missing(), HasSubstr("something"));
}

}  // namespace
}  // namespace emplace::report::placement_json_test
