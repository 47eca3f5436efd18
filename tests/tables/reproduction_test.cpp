// A small table made again: its machine, its cells, and what a second call does.
#include "emplace/tables/reproduction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "../../src/tables/table_machine.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/files.hpp"
#include "emplace/base/interrupt.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/run/problem_source.hpp"
#include "emplace/simulate/evaluator.hpp"
#include "support/partitioning.hpp"
#include "support/temporary_folder.hpp"

namespace emplace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* graph = "zoo:rnnlm?layers=1&sequence=4&hidden=64&vocabulary=500&training=true";

std::string small_table(const std::string& published = "cpu-only = 0.25, greedy = 0.125") {
  return fmt::format(R"(
title = "Small"
source = "nobody"
methods = ["cpu-only", "greedy", "dp", "post"]
[calibration]
cpu = "cpu-only"
[method.post]
recipe = "quickstart"
options = {{ "post.samples_per_update" = 10, "post.window" = 50 }}
seeds = 3
budget.evaluations = 100
quick.evaluations = 50
[best]
quick.evaluations = 200
[[row]]
label = "One"
model = "rnnlm"
graph = "{}"
machine = "laptop"
published = {{ {} }}
keys = {{ groups = 9 }}
)",
                     graph, published);
}

class SmallReproduction : public testing::Test {
 protected:
  Reproduction make(const std::string& toml, bool quick = true) {
    return reproduce(parse_table(toml, "small", "small.toml"),
                     {.folder = folder_ / "out", .quick = quick, .show_progress = false});
  }
  static const CellFigures& cell(const Reproduction& made, const std::string& method) {
    return *std::ranges::find(made.rows[0].cells, method, &CellFigures::method);
  }
  std::string file(const std::string& name) const { return folder_ / ("out/" + name); }
  test::TemporaryFolder folder_;
};

TEST_F(SmallReproduction, HasTheCalibratedColumnAsPublishedAndEveryOtherCell) {
  const Reproduction made = make(small_table());
  ASSERT_TRUE(made.finished());
  EXPECT_NEAR(cell(made, "cpu-only").ours.value(), 0.25, 1e-6) << "op times are rounded to picoseconds";
  EXPECT_TRUE(cell(made, "cpu-only").calibrates);
  EXPECT_EQ(cell(made, "greedy").status, CellStatus::ok);
  EXPECT_EQ(cell(made, "greedy").published->seconds, 0.125);
  EXPECT_EQ(cell(made, "dp").status, CellStatus::unfit) << "it is for pipelines";
  EXPECT_THAT(cell(made, "dp").reason, HasSubstr("pipeline"));
  const CellFigures& learned = cell(made, "post");
  EXPECT_EQ(learned.seeds, 1u) << "--quick";
  const auto run = std::filesystem::directory_iterator(file("runs"))->path().string();
  EXPECT_THAT(read_file(run + "/config.toml"), HasSubstr("groups = 9\n")) << "the row's key";
  EXPECT_EQ(made.cells, 6u) << "4 methods, best and bound";
  EXPECT_GT(made.rows[0].bound.ours.value(), 0);
  for (const CellFigures* each : {&cell(made, "greedy"), &learned, &made.rows[0].best}) {
    EXPECT_GE(each->ours.value(), made.rows[0].bound.ours.value()) << each->method;
    EXPECT_LE(made.rows[0].best.ours.value(), each->ours.value()) << each->method;
  }
}

TEST_F(SmallReproduction, LeavesPlacementsThatSimulateToTheSameTick) {
  make(small_table());
  const nlohmann::json kept = nlohmann::json::parse(read_file(file("cells/one.post.0.json")));
  const LoadedProblem loaded = load_problem(kept["task"]["problem"], {});
  const Placement placement =
      read_placement_json(read_file(file("cells/one.post.0.placement.json")), "placement", loaded.problem).placement;
  const Problem* const problems[] = {&loaded.problem};
  const EvaluationJob job{0, &placement};
  EXPECT_EQ(make_local_evaluator(problems, Scoring{})->evaluate(std::span(&job, 1)).front().makespan,
            kept["result"]["time_ps"].get<Ticks>());
}

TEST_F(SmallReproduction, MakesNothingTwiceAndAgainWhatHasChanged) {
  const Reproduction first = make(small_table());
  const auto written = [&](const std::string& name) { return std::filesystem::last_write_time(file("cells/" + name)); };
  const auto greedy = written("one.greedy.0.json"), learned = written("one.post.0.json");
  make(small_table());
  EXPECT_EQ(written("one.greedy.0.json"), greedy);
  EXPECT_EQ(written("one.post.0.json"), learned);
  std::string other = small_table();
  other.replace(other.find("quick.evaluations = 50"), 22, "quick.evaluations = 60");
  make(other);
  EXPECT_EQ(written("one.greedy.0.json"), greedy);
  EXPECT_NE(written("one.post.0.json"), learned);
  const Reproduction made = make(small_table("cpu-only = 1e-6"));
  EXPECT_NE(written("one.greedy.0.json"), greedy) << "the machine is another";
  EXPECT_NE(cell(made, "post").ours, cell(first, "post").ours) << "which is another training too";
}

TEST_F(SmallReproduction, LeavesTheUnfinishedRunOfAnotherTableAlone) {
  make(small_table());
  const auto run = std::filesystem::directory_iterator(file("runs"))->path().string();
  write_file(run + "/status", "interrupted\n");
  std::string other = small_table();
  other.replace(other.find("groups = 9"), 10, "groups = 8");
  const Reproduction made = make(other);
  EXPECT_EQ(cell(made, "post").status, CellStatus::ok) << cell(made, "post").reason;
  EXPECT_EQ(read_file(run + "/status"), "interrupted\n");
}

TEST_F(SmallReproduction, IsMadeAgainWhereAFileIsDamaged) {
  const Reproduction first = make(small_table());
  for (const char* damage : {"", "{", "[]", "{\"task\": 1}", "{\"task\": {}, \"result\": {}}", "\xff\xfe"}) {
    write_file(file("cells/one.greedy.0.json"), damage);
    const Reproduction again = make(small_table());
    ASSERT_TRUE(again.finished()) << damage;
    EXPECT_EQ(cell(again, "greedy").ours, cell(first, "greedy").ours);
  }
}

TEST_F(SmallReproduction, HasTheMedianOfItsSeeds) {
  std::string toml = small_table();
  toml.replace(toml.find("quick.evaluations = 50"), 22, "quick_seeds = 3\nquick.evaluations = 50");
  const Reproduction made = make(toml);
  const CellFigures& learned = cell(made, "post");
  EXPECT_EQ(learned.seeds, 3u);
  std::vector<double> seconds;
  for (const char* seed : {"0", "1", "2"})
    seconds.push_back(to_seconds(
        nlohmann::json::parse(read_file(file(std::string("cells/one.post.") + seed + ".json")))["result"]["time_ps"]
            .get<Ticks>()));
  std::ranges::sort(seconds);
  EXPECT_THAT((std::vector{learned.low.value(), learned.ours.value(), learned.high.value()}),
              testing::ElementsAreArray(seconds));
}

TEST_F(SmallReproduction, StopsAtItsTimeAndGoesOn) {
  const PublishedTable table = parse_table(small_table(), "small", "small.toml");
  ReproductionSession session{.folder = folder_ / "out", .quick = true, .show_progress = false};
  session.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const Reproduction stopped = reproduce(table, session);
  EXPECT_FALSE(stopped.finished());
  EXPECT_EQ(stopped.cells_done, 0u);
  EXPECT_EQ(cell(stopped, "greedy").status, CellStatus::missing);
  session.deadline.reset();
  EXPECT_TRUE(reproduce(table, session).finished());
}

TEST(ReproductionOfFiles, HasLoadsOfPublishedProblemsAndPlacements) {
  const test::TemporaryFolder folder;
  // A chain of 4, 6 and 4 ms with transfers of 1 ms on two accelerators: 14 on one; contiguous 4 | 1 + 6 + 4 = 11.
  test::Partitioning chain = test::chain_of({4, 6, 4});
  chain.accelerators = 2;
  write_file(folder / "chain.json", chain.text());
  write_file(folder / "split.json", R"({"maxLoad": 11, "fpgas": [{"nodes": [0, 1]}, {"nodes": [2]}], "cpus": []})");
  const PublishedTable table = parse_table(R"(
title = "Chain"
source = "by hand"
objective = "pipeline"
methods = ["device:acc:0", "expert", "dp", "greedy"]
[[row]]
label = "Chain"
model = "chain"
problem = "chain.json"
placements.expert = "split.json"
published = { "device:acc:0" = 0.014, dp = 0.011 }
)",
                                           "chain", "chain.toml");
  ReproductionSession session{.folder = folder / "out", .quick = true, .show_progress = false};
  EXPECT_THROW(reproduce(table, session), InputError) << "nobody said where the files are";
  session.files = folder / "elsewhere";
  EXPECT_THROW(reproduce(table, session), InputError) << "they are not there";
  EXPECT_FALSE(file_exists(folder / "out/lock")) << "nothing was begun";
  session.files = folder.path();
  const Reproduction made = reproduce(table, session);
  ASSERT_TRUE(made.finished());
  const std::vector<CellFigures>& cells = made.rows[0].cells;
  EXPECT_DOUBLE_EQ(cells[0].ours.value(), 0.014);
  EXPECT_DOUBLE_EQ(cells[1].ours.value(), 0.011) << "the file's split: 4 + 6 + 1";
  EXPECT_DOUBLE_EQ(cells[2].ours.value(), 0.011);
  EXPECT_GE(made.rows[0].best.ours.value(), made.rows[0].bound.ours.value());
}

class DeviceScales : public testing::Test {
 protected:
  void SetUp() override {
    table_.name = "t";
    table_.calibration = {{"cpu", "c"}, {"gpu", "g"}};
    table_.rows.resize(4);
    for (const char* label : {"a", "b", "c", "d"}) table_.rows[static_cast<std::size_t>(label[0] - 'a')].label = label;
    table_.rows[0].published = {{"c", {2.0}}, {"g", {1.0}}};    // cpu x 2, gpu x 4
    table_.rows[1].published = {{"c", {4.0}}, {"g", {0.125}}};  // cpu x 4, gpu x 0.5
    table_.rows[2].published = {{"c", {6.0}}, {"g", {{}}}};     // OOM tells nothing of speed
    runs_.assign(4, {{"cpu", {1.0, 10}}, {"gpu", {0.25, 100}}});
  }
  double time(std::size_t row, const char* kind) const { return device_scales(table_, runs_)[row].at(kind).time; }
  PublishedTable table_;
  CalibratingRuns runs_;
};

TEST_F(DeviceScales, OfAMissingCellFollowTheOtherKindAsInRowsThatHaveBoth) {
  EXPECT_DOUBLE_EQ(time(0, "cpu"), 2);
  EXPECT_DOUBLE_EQ(time(0, "gpu"), 4);
  EXPECT_DOUBLE_EQ(time(1, "gpu"), 0.5);
  EXPECT_DOUBLE_EQ(time(2, "cpu"), 6);
  EXPECT_DOUBLE_EQ(time(2, "gpu"), 3) << "the relations are 4 / 2 and 0.5 / 4: their geometric mean is 1/2";
  EXPECT_DOUBLE_EQ(time(3, "cpu"), std::cbrt(2.0 * 4 * 6)) << "nothing is known of the row";
  EXPECT_DOUBLE_EQ(time(3, "gpu"), std::sqrt(4.0 * 0.5));
  table_.rows[2].like = "a";
  EXPECT_DOUBLE_EQ(time(2, "gpu"), 12) << "4 / 2 alone";
  table_.rows[0].published.erase("g");
  table_.rows[1].published.erase("g");
  EXPECT_THROW(device_scales(table_, runs_), InputError) << "no row has a time of the GPU";
}

TEST_F(DeviceScales, HaveTheMostMemoryWithWhichAllIsShortThatWas) {
  const auto memory = [&] { return device_scales(table_, runs_)[0].at("gpu").memory; };
  runs_[2]["gpu"].peak = 120;
  EXPECT_EQ(memory(), 119) << "rows a and b fit with 100";
  EXPECT_EQ(device_scales(table_, runs_)[3].at("gpu").memory, 119) << "it is one machine";
  EXPECT_EQ(device_scales(table_, runs_)[0].at("cpu").memory, std::nullopt) << "nothing is OOM there";
  table_.rows[3].published = {{"g", {{}}}};
  runs_[3]["gpu"].peak = 110;
  EXPECT_EQ(memory(), 109);
  runs_[3]["gpu"].peak = 100;
  EXPECT_EQ(memory(), std::nullopt) << "what was timed would not fit";
}

}  // namespace
}  // namespace emplace
