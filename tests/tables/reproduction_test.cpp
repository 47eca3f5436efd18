// A small table made again: its machine, its cells, and what a second call does.
#include "emplace/tables/reproduction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "../../src/tables/expected_times.hpp"
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
  EXPECT_EQ(made.jobs, 6u) << "4 methods, best and bound";
  EXPECT_GT(made.rows[0].bound.ours.value(), 0);
  for (const CellFigures* each : {&cell(made, "greedy"), &learned, &made.rows[0].best}) {
    EXPECT_GE(each->ours.value(), made.rows[0].bound.ours.value()) << each->method;
    EXPECT_LE(made.rows[0].best.ours.value(), each->ours.value()) << each->method;
  }
}

TEST_F(SmallReproduction, LeavesPlacementsThatSimulateToTheSameTick) {
  make(small_table());
  const nlohmann::json kept = nlohmann::json::parse(read_file(file("cells/one.post.0.json")));
  const LoadedProblem loaded = load_problem(kept["problem"], {});
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

TEST_F(SmallReproduction, IsOfOneTableAndOneKindOfBudgets) {
  make(small_table());
  EXPECT_THROW(make(small_table(), false), InputError) << "the full table would replace the quick one";
  EXPECT_THROW(reproduce(parse_table(small_table(), "other", "other.toml"), {.folder = folder_ / "out", .quick = true}),
               InputError);
}

TEST_F(SmallReproduction, LeavesAloneTheFoldersOfTrainingsAndOfTablesWithAnotherTitle) {
  make_folder(folder_ / "run");
  write_file(folder_ / "run/config.toml", "");
  EXPECT_THROW(reproduce(parse_table(small_table(), "small", "small.toml"), {.folder = folder_ / "run", .quick = true}),
               InputError);
  EXPECT_FALSE(file_exists(folder_ / "run/cells"));
  make(small_table());
  std::string other = small_table();
  other.replace(other.find("\"Small\""), 7, "\"Other\"");
  EXPECT_THROW(make(other), InputError);
}

TEST_F(SmallReproduction, MakesAgainWhatHasAnotherMachineInTheSameFile) {
  const auto machine = [&](double time) {
    write_file(folder_ / "m.toml", rescaled_machine_toml("laptop", {{"cpu", DeviceScale{.time = time}}}, "m"));
  };
  std::string toml = small_table();
  toml.replace(toml.find("[calibration]\ncpu = \"cpu-only\"\n"), 31, "");
  toml.replace(toml.find("\"laptop\""), 8, "\"" + (folder_ / "m.toml") + "\"");
  machine(1);
  const Reproduction first = make(toml);
  machine(2);
  const Reproduction second = make(toml);
  for (const char* method : {"cpu-only", "post"})
    EXPECT_NE(cell(first, method).ours, cell(second, method).ours) << method;
}

TEST_F(SmallReproduction, CountsNoCopyOfAColumnThatCalibrates) {
  std::string toml = small_table("cpu-only = 0.25, greedy = 0.25");
  toml += "placers.greedy = \"cpu-only\"\n";
  const Reproduction made = make(toml);
  EXPECT_TRUE(cell(made, "greedy").calibrates);
  EXPECT_EQ(made.fidelity.relative_error, std::nullopt);
  toml.replace(toml.find("greedy = 0.25"), 13, "greedy = 0.26");
  EXPECT_FALSE(cell(make(toml), "greedy").calibrates) << "what was published is another figure";
}

TEST_F(SmallReproduction, MakesAllOthersWhereACellCannotBeMadeHereAndThatAnotherTime) {
  make_folder(folder_ / "out");
  std::filesystem::create_directories(file("cells/one.greedy.0.placement.json"));
  const Reproduction made = make(small_table());
  EXPECT_FALSE(made.finished());
  EXPECT_EQ(made.jobs_done, made.jobs - 1);
  EXPECT_THAT(made.undone, HasSubstr("one.greedy.0: "));
  EXPECT_EQ(cell(made, "greedy").status, CellStatus::missing);
  EXPECT_EQ(cell(made, "post").status, CellStatus::ok);
  std::filesystem::remove(file("cells/one.greedy.0.placement.json"));
  const Reproduction again = make(small_table());
  EXPECT_TRUE(again.finished());
  EXPECT_EQ(again.undone, "");
}

TEST(ExpectedTimes, AreBudgetsOrThoseOfTheMethodsOtherCells) {
  ExpectedTimes times;
  const auto of = [](const char* id, const char* recipe = "") {
    CellTask task;
    task.id = id;
    task.recipe = recipe;
    return task;
  };
  EXPECT_EQ(times.of(of("one.greedy.0")), 0) << "nothing is known";
  times.took(of("one.post.0", "a recipe"), 10);
  times.took(of("two.post.1", "a recipe"), 20);
  times.took(of("two.gdp.0", "a recipe"), 60);
  EXPECT_EQ(times.of(of("three.post.0", "a recipe")), 15);
  EXPECT_EQ(times.of(of("three.go.0", "a recipe")), 30) << "of all trainings";
  CellTask best = of("three.best.0");
  best.seconds = 300;
  EXPECT_EQ(times.of(best), 300);
}

TEST_F(SmallReproduction, StaysWhenItsFolderIsMovedOrNamedOtherwise) {
  make(small_table());
  const auto made = std::filesystem::last_write_time(file("cells/one.post.0.json"));
  std::filesystem::rename(folder_ / "out", folder_ / "moved");
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const Reproduction again = reproduce(parse_table(small_table(), "small", "small.toml"),
                                       {.folder = "moved", .quick = true, .show_progress = false});
  std::filesystem::current_path(here);
  EXPECT_TRUE(again.finished());
  EXPECT_EQ(std::filesystem::last_write_time(folder_ / "moved/cells/one.post.0.json"), made);
}

TEST_F(SmallReproduction, LeavesForAnotherTimeWhatTakesLongerThanIsLeft) {
  ReproductionSession session{.folder = folder_ / "out", .quick = false, .show_progress = false};
  session.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string toml = small_table();
  toml.replace(toml.find("quick.evaluations = 200"), 23, "budget.seconds = 40");
  toml.insert(toml.find("[[row]]"),
              "[[row]]\nlabel = \"First\"\nmodel = \"rnnlm\"\ngraph = \"zoo:nmt?layers=4\"\nmachine = "
              "\"laptop\"\nskip = [\"cpu-only\", \"dp\", \"post\", \"greedy\"]\n");
  const Reproduction made = reproduce(parse_table(toml, "small", "small.toml"), session);
  EXPECT_FALSE(made.finished());
  EXPECT_EQ(made.rows[0].best.status, CellStatus::missing) << "40 s are more than there were";
  for (const CellFigures& each : made.rows[1].cells) EXPECT_NE(each.status, CellStatus::missing) << each.method;
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
  EXPECT_EQ(stopped.jobs_done, 0u);
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

// Three rows of two models, and networks as small as they get.
constexpr const char* of_shared_trainings = R"(
title = "Trainings on several rows"
source = "nobody"
methods = ["together", "drawn", "tuned"]
quick_seeds = 2
[method.together]
recipe = "gdp-pretrain"
together = true
options = { problems_per_update = 2, groups = 8, gdp.hidden = 8, gdp.heads = 2, ppo.samples_per_update = 4 }
quick.evaluations = 16
[pretraining]
recipe = "gdp-pretrain"
options = { problems_per_update = 1, groups = 8, gdp.hidden = 8, gdp.heads = 2, ppo.samples_per_update = 4 }
quick.evaluations = 8
[method.drawn]
pretrained = true
quick.evaluations = 5
[method.tuned]
recipe = "gdp-finetune"
pretrained = true
options = { groups = 8, gdp.hidden = 8, gdp.heads = 2, ppo.samples_per_update = 16, ppo.minibatches = 1 }
quick.evaluations = 16
[best]
quick.evaluations = 50
[[row]]
label = "RNNLM 3"
model = "rnnlm"
graph = "zoo:rnnlm?layers=1&sequence=3&hidden=64&vocabulary=500&training=true"
machine = "k40x2"
skip = ["drawn"]
[[row]]
label = "RNNLM 4"
model = "rnnlm"
graph = "zoo:rnnlm?layers=1&sequence=4&hidden=64&vocabulary=500&training=true"
machine = "k40x2"
[[row]]
label = "NMT"
model = "nmt"
graph = "zoo:nmt?layers=1&sequence=4&hidden=64&vocabulary=500&training=true"
machine = "k40x4"
skip = ["together"]
)";

class SharedTrainings : public testing::Test {
 protected:
  Reproduction make(const std::string& toml = of_shared_trainings) {
    return reproduce(parse_table(toml, "shared", "shared.toml"),
                     {.folder = folder_ / "out", .quick = true, .show_progress = false});
  }
  nlohmann::json kept(const std::string& id) const {
    return nlohmann::json::parse(read_file(folder_ / ("out/cells/" + id + ".json")));
  }
  // The recipe of the one run whose name begins so.
  std::string recipe_of(const std::string& id) const {
    std::string text;
    for (const auto& run : std::filesystem::directory_iterator(folder_ / "out/runs"))
      if (run.path().filename().string().starts_with(id + "-")) text += read_file(run.path() / "config.toml");
    return text;
  }
  test::TemporaryFolder folder_;
};

TEST_F(SharedTrainings, AreMadeOnceASeedOnTheRowsThatTheyAreFor) {
  const Reproduction made = make();
  ASSERT_TRUE(made.finished());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "out/runs"), {}), 2 + 2 * 2 + 3 * 2)
      << "together; without either model; three rows tuned";
  const std::string together = recipe_of("rows.all.together.0"), without = recipe_of("rows.without.rnnlm.1");
  EXPECT_THAT(together, testing::AllOf(HasSubstr("zoo:rnnlm?layers=1&sequence=3"), HasSubstr("sequence=4&"),
                                       testing::Not(HasSubstr("zoo:nmt")), HasSubstr("device_head = \"features\""),
                                       testing::Not(HasSubstr("held_out = ["))));
  EXPECT_THAT(without, testing::AllOf(HasSubstr("zoo:nmt"), testing::Not(HasSubstr("zoo:rnnlm"))));
  EXPECT_THAT(recipe_of("nmt.tuned.1"), HasSubstr("runs/rows.without.nmt.1-"));
  for (const RowFigures& row : made.rows)
    for (const CellFigures& cell : row.cells) {
      EXPECT_EQ(cell.status, CellStatus::ok) << row.label << " " << cell.method << ": " << cell.reason;
      EXPECT_EQ(cell.seeds, 2u);
    }
}

TEST_F(SharedTrainings, GiveCellsTheirPlacementsDrawsAndTheirShareOfTheSeconds) {
  const Reproduction made = make();
  const auto of = [](const nlohmann::json& cell) { return cell["result"]["time_ps"].get<Ticks>(); };
  const nlohmann::json first = kept("rnnlm-3.together.0"), second = kept("rnnlm-4.together.0");
  EXPECT_THAT(first["task"]["placement"].get<std::string>(), HasSubstr("/best.0.placement.json"));
  EXPECT_THAT(second["task"]["placement"].get<std::string>(), HasSubstr("/best.1.placement.json"));
  EXPECT_NE(of(first), of(second)) << "they are of two problems";
  EXPECT_EQ(kept("nmt.drawn.0")["result"]["evaluations"], 5);
  EXPECT_GE(made.rows[0].cells[0].seconds_spent, (kept("rows.all.together.0")["result"]["seconds"].get<double>() +
                                                  kept("rows.all.together.1")["result"]["seconds"].get<double>()) /
                                                     2);
}

TEST_F(SharedTrainings, AreLeftAsTheyAreUntilTheyChange) {
  make();
  const auto written = [&](const std::string& id) {
    return std::filesystem::last_write_time(folder_ / ("out/cells/" + id + ".json"));
  };
  const auto trained = written("rows.without.nmt.0"), drawn = written("nmt.drawn.0"),
             together = written("rows.all.together.0");
  make();
  EXPECT_EQ(written("rows.without.nmt.0"), trained);
  EXPECT_EQ(written("nmt.drawn.0"), drawn);
  std::string longer = of_shared_trainings;
  longer.replace(longer.find("quick.evaluations = 8"), 21, "quick.evaluations = 9");
  make(longer);
  EXPECT_NE(written("rows.without.nmt.0"), trained);
  EXPECT_NE(written("nmt.drawn.0"), drawn) << "its policy is another";
  EXPECT_EQ(written("rows.all.together.0"), together);
}

TEST_F(SharedTrainings, ThatFailFailWhatWaitsForThem) {
  std::string diverging = of_shared_trainings;
  diverging.insert(diverging.find("ppo.samples_per_update = 4 }\nquick.evaluations = 8"),
                   "ppo.learning_rate = 1000, checkpoint_every = 1, ");
  diverging.replace(diverging.find("quick.evaluations = 8\n"), 22, "quick.evaluations = 400\n");
  const Reproduction made = make(diverging);
  ASSERT_TRUE(made.finished());
  const CellFigures& drawn = made.rows[1].cells[1];
  EXPECT_EQ(drawn.status, CellStatus::unfit) << "half a training is none";
  EXPECT_THAT(drawn.reason, HasSubstr("checkpoint"));
  EXPECT_EQ(made.rows[0].cells[0].status, CellStatus::ok) << "this one was trained otherwise";
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
