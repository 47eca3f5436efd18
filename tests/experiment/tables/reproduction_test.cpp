// A small table is reproduced: its machine, its cells, and a second call.
#include "experiment/tables/reproduction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/tables/cell.hpp"
#include "tests/support/partitioning.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::reproduction_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

class SmallReproduction : public ::testing::Test {
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

TEST_F(SmallReproduction, KeepsTheOtherEndsOfARecipeBesideTheBudgetOfACell) {
  std::string toml = small_table();
  toml.replace(toml.find("groups = 9"), 10, "groups = 9, patience = 40, stop_at_bound = true, updates = 3");
  make(toml);
  const std::string config = read_file(std::filesystem::directory_iterator(file("runs"))->path() / "config.toml");
  EXPECT_THAT(config, HasSubstr("patience = 40\n"));
  EXPECT_THAT(config, HasSubstr("stop_at_bound = true\n"));
  EXPECT_THAT(config, HasSubstr("evaluations = 50\n")) << "the cell's budget";
  EXPECT_THAT(config, ::testing::Not(HasSubstr("\nupdates = "))) << "it replaces that of the recipe";
}

TEST_F(SmallReproduction, LearnsWithoutSearchInsideIfTheTableSaysSo) {
  const auto polished_samples = [&](const std::string& line) {
    std::string toml = small_table();
    toml.replace(toml.find("recipe = \"quickstart\""), 21, "recipe = \"post\"");
    toml.replace(toml.find("\n[calibration]"), 1, line + "\n");
    std::filesystem::remove_all(folder_ / "out");
    make(toml);
    const auto run = std::filesystem::directory_iterator(file("runs"))->path() / "config.toml";
    return ConfigTable::parse_toml(read_file(run), run).table("polish").whole("samples", -1);
  };
  EXPECT_EQ(polished_samples("\nsearch_inside = true"), 2) << "as the recipe has it";
  EXPECT_EQ(polished_samples("\nsearch_inside = false"), 0);
}

TEST_F(SmallReproduction, LeavesPlacementsThatSimulateToTheSameTick) {
  make(small_table());
  const nlohmann::json kept = nlohmann::json::parse(read_file(file("cells/one.post.0.json")));
  const source::LoadedProblem loaded = source::load_problem(kept["problem"], {});
  const Placement placement =
      formats::read_placement_json(read_file(file("cells/one.post.0.placement.json")), "placement", loaded.problem)
          .placement;
  const Problem* const problems[] = {&loaded.problem};
  const evaluate::EvaluationJob job{0, &placement};
  EXPECT_EQ(
      evaluate::make_local_evaluator(problems, evaluate::Scoring{})->evaluate(std::span(&job, 1)).front().makespan,
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

TEST_F(SmallReproduction, MakesNothingAgainForAnOptionThatCameLaterAndHasItsDefault) {
  make(small_table());
  const std::string name = file("cells/one.post.0.json");
  const auto change_recipe = [&](const std::string& was, const std::string& is) {
    nlohmann::json kept = nlohmann::json::parse(read_file(name));
    std::string recipe = kept["task"]["recipe"];
    ASSERT_NE(recipe.find(was), std::string::npos) << recipe;
    recipe.replace(recipe.find(was), was.size(), is);
    kept["task"]["recipe"] = recipe;
    write_file(name, kept.dump());
  };
  const auto is_made_again = [&] {
    const std::string before = read_file(name);
    make(small_table());
    return read_file(name) != before;
  };
  EXPECT_FALSE(is_made_again());
  // As an older program wrote it, which had no option hold_problems, and another name for the folder of the run.
  change_recipe("hold_problems = 1\n", "");
  change_recipe("run = \"runs/", "run = \"runs/older-");
  EXPECT_FALSE(is_made_again());
  change_recipe("seed = 0\n", "seed = 0\nhold_problems = 2\n");
  EXPECT_TRUE(is_made_again()) << "another value than the default";
  change_recipe("hold_problems", "held_problems");
  EXPECT_TRUE(is_made_again()) << "a key that this program does not have";
  change_recipe("hold_problems = 1", "hold_problems = = 1");
  EXPECT_TRUE(is_made_again()) << "no recipe at all";
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
    write_file(folder_ / "m.toml",
               machine::rescaled_machine_toml("laptop", {{"cpu", machine::DeviceScale{.time = time}}}, "m"));
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
  std::string toml = small_table();
  toml.replace(toml.find("quick.evaluations = 200"), 23, "budget.seconds = 7200");
  toml.insert(toml.find("[[row]]"),
              "[[row]]\nlabel = \"First\"\nmodel = \"rnnlm\"\ngraph = \"zoo:nmt?layers=4\"\nmachine = "
              "\"laptop\"\nskip = [\"cpu-only\", \"dp\", \"post\", \"greedy\"]\n");
  const auto are_made = [&] {
    return std::ranges::all_of(
        std::array{"cpu-only.0", "greedy.0", "post.0", "post.1", "post.2"},
        [&](const char* cell) { return file_exists(file(fmt::format("cells/one.{}.json", cell))); });
  };
  // A process of its own, because a request to stop cannot be taken back.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(120);
    std::thread([&] {
      test::comes_true(are_made);
      request_stop();
    }).detach();
    ReproductionSession session{.folder = folder_ / "out", .quick = false, .show_progress = false};
    session.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
    const Reproduction made = reproduce(parse_table(toml, "small", "small.toml"), session);
    _exit(made.finished() || made.rows[0].best.status != CellStatus::missing ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(are_made()) << "though the search of two hours of the row before it is not";
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
              ::testing::ElementsAreArray(seconds));
}

TEST_F(SmallReproduction, HasNoMoreSeedsThanItsRowAllows) {
  std::string toml = small_table();
  toml.replace(toml.find("quick.evaluations = 50"), 22, "quick_seeds = 3\nquick.evaluations = 50");
  toml.replace(toml.find("[[row]]"), 7, "[[row]]\nseeds = 2");
  EXPECT_EQ(cell(make(toml), "post").seeds, 2u);
  toml.replace(toml.find("seeds = 2"), 9, "seeds_of = { post = 1 }");
  EXPECT_EQ(cell(make(toml), "post").seeds, 1u);
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

TEST(Cell, OfABoundEndsOnRequestAndIsNotKept) {
  const test::TemporaryFolder folder;
  CellTask task{.id = "nmt.bound.0", .folder = folder / "", .problem = "zoo:nmt?layers=2@k40x2", .machine = ""};
  task.method = "bound";
  task.seconds = 600;
  EXPECT_TRUE(make_cell(task, nullptr, [] { return true; }).interrupted);
  EXPECT_FALSE(file_exists(result_file(task)));
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
  EXPECT_THROW(reproduce(table, session), InputError) << "no folder of files is given";
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

}  // namespace
}  // namespace emplace::experiment::reproduction_test
