// scripts/best-known: the kept placements and the page made of them, and what the script refuses.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::best_known_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string source = EMPLACE_SOURCE;
const std::string shipped = source + "/bench/best-known";
// 119 ops on a host with two GPUs; branches can run side by side.
const std::string tiny = "zoo:inception-v3?detail=layer@k40x2";

Finished best_known(std::vector<std::string> arguments) {
  const std::string programs = std::filesystem::path(EMPLACE_PROGRAM).parent_path();
  const std::vector<std::string> before = {"env", "PATH=" + programs + ":" + std::getenv("PATH"),
                                           source + "/scripts/best-known"};
  arguments.insert(arguments.begin(), before.begin(), before.end());
  return run(arguments);
}

TEST(BestKnown, TheKeptPlacementsOfSmallModelsHaveTheirKeptSteps) {
  const Finished done = best_known({"check", "--only", "inception-v3", "--only", "zoo:gpt-2@*", "--jobs", "2"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, StartsWith("6 of 6 placements have the kept step"));
}

TEST(BestKnown, TheKeptPlacementsOfPublishedWorkloadsHaveTheirKeptSteps) {
  const std::string workloads = outside_file("workloads");
  for (const char* collection : {"het-dag", "moirai", "dnn-partitioning"})
    REQUIRE_OUTSIDE_FILE(workloads + "/" + collection);
  const Finished done = best_known({"check", "--only", "het-dag/", "--only", "moirai/", "--only", "LayerGraphs/",
                                    "--workloads", workloads, "--jobs", "2"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "15 of 15 placements have the kept step\n");
}

TEST(BestKnown, WhereThePublishedWorkloadsAreAbsentTheirPlacementsAreLeftOutAndCounted) {
  const TemporaryFolder folder;
  const Finished done =
      best_known({"check", "--only", "het-dag/", "--only", "zoo:gpt-2@i9-flex170", "--workloads", folder.path()});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "1 of 1 placements have the kept step; of 7 more the file is not here (--workloads)\n");
}

TEST(BestKnown, ThePageIsMadeOfTheKeptPlacements) {
  const TemporaryFolder folder;
  const Finished done = best_known({"page", "-o", folder / "page.md"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(read_file(folder / "page.md") == read_file(source + "/docs/leaderboard.md"))
      << "`scripts/best-known page` makes docs/leaderboard.md";
}

TEST(BestKnown, TheListHas48ProblemsOf12Models) {
  std::vector<std::string> models, machines;
  std::size_t least = SIZE_MAX, most = 0;
  for (const std::string& line : split(read_file(shipped + "/zoo.tsv"), '\n')) {
    if (!line.starts_with("zoo:")) continue;
    const std::vector<std::string> cells = split(line, '\t');
    models.push_back(cells[0].substr(4, cells[0].find_first_of("?@") - 4));
    machines.push_back(cells[0].substr(cells[0].find('@')));
    least = std::min<std::size_t>(least, std::stoul(cells[3]));
    most = std::max<std::size_t>(most, std::stoul(cells[3]));
  }
  EXPECT_EQ(models.size(), 48U);
  std::ranges::sort(models);
  for (auto at = models.begin(); at != models.end(); at += 4) EXPECT_EQ(std::ranges::count(models, *at), 4) << *at;
  std::ranges::sort(machines);
  machines.erase(std::ranges::unique(machines).begin(), machines.end());
  EXPECT_GE(machines.size(), 4U);
  EXPECT_LT(least, 150U);
  EXPECT_GT(most, 50'000U);
}

// A folder with one problem, all of whose ops are on one device.
class BestKnownFolder : public ::testing::Test {
 protected:
  Finished in_folder(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--folder", folder_ / "kept"});
    return best_known(std::move(arguments));
  }
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "kept");
    const Finished done = in_folder({"add", "zoo", tiny, "--method", "single", "--seconds", "0.2"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
  }
  std::vector<std::string> row() { return split(split(read_file(index_), '\n').at(1), '\t'); }
  // Replaces a cell of the row.
  void set(std::size_t cell, const std::string& text) {
    std::vector<std::string> cells = row();
    cells.at(cell) = text;
    write_file(index_, split(read_file(index_), '\n').at(0) + "\n" + join(cells, "\t") + "\n");
  }
  void expect_refused(const std::vector<std::string>& arguments, const ::testing::Matcher<std::string>& message) {
    const Finished done = in_folder(arguments);
    EXPECT_EQ(done.exit_code, 2) << done.out << done.err;
    EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << "one sentence: " << done.err;
    EXPECT_THAT(done.err, AllOf(StartsWith("error: "), message));
  }
  static constexpr std::size_t digest = 5, step = 6, bound = 7, who = 9, how = 10, tries = 13;  // cells
  TemporaryFolder folder_;
  std::string index_ = folder_ / "kept/zoo.tsv", placements_ = folder_ / "kept/zoo.placements.jsonl";
};

TEST_F(BestKnownFolder, ASubmittedPlacementIsKeptIfItIsBetterAndOnlyThen) {
  const std::string climbed = folder_ / "climbed.json", single = folder_ / "single.json";
  ASSERT_EQ(emplace_run({"place", "single", tiny, "-o", single}).exit_code, 0);
  ASSERT_EQ(emplace_run({"place", "climb", tiny, "--evaluations", "2000", "-o", climbed}).exit_code, 0);
  const auto outcome = nlohmann::json::parse(emplace_run({"simulate", tiny, climbed, "--json"}).out);
  const std::string makespan = fmt::format("{}", outcome["makespan_ps"].get<std::int64_t>());

  const Finished better = in_folder({"submit", climbed, "--problem", tiny, "--by", "Ada"});
  ASSERT_EQ(better.exit_code, 0) << better.err;
  EXPECT_THAT(better.out, StartsWith("kept: " + makespan + " ps"));
  EXPECT_EQ(row().at(step), makespan);
  EXPECT_EQ(row().at(who), "Ada");
  const std::string index = read_file(index_), placements = read_file(placements_);
  EXPECT_EQ(std::ranges::count(placements, '\n'), 1) << "the old placement is gone";
  for (const std::string& file : {climbed, single}) {
    const Finished worse = in_folder({"submit", file, "--problem", tiny, "--by", "Bob"});
    EXPECT_EQ(worse.exit_code, 3) << worse.err;
    EXPECT_THAT(worse.out, StartsWith("not kept: "));
  }
  EXPECT_EQ(read_file(index_), index);
  EXPECT_EQ(read_file(placements_), placements);
  EXPECT_EQ(in_folder({"check"}).exit_code, 0);
}

TEST_F(BestKnownFolder, AnImprovementLeavesWhatIsBetterAndCountsItsTries) {
  const std::int64_t before = std::stoll(row().at(step)), bound_before = std::stoll(row().at(bound));
  const Finished done = in_folder({"improve", "--hours", "0.0007", "--seconds", "0.3", "--methods", "climb,bound"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_LT(std::stoll(row().at(step)), before);
  EXPECT_GE(std::stoll(row().at(bound)), bound_before);
  EXPECT_THAT(row().at(how), StartsWith("climb --seed "));
  EXPECT_GE(std::stoll(row().at(tries)), 1);
  EXPECT_EQ(in_folder({"check"}).exit_code, 0);
}

TEST_F(BestKnownFolder, APlacementLineThatAnInterruptedWriterLeftIsIgnored) {
  const std::string line = read_file(placements_);
  std::string other = line;
  other.replace(other.find("\"step_ps\": ") + 11, 1, "9");
  write_file(placements_, line + other);
  const Finished done = in_folder({"check"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST_F(BestKnownFolder, ARaceRecordsWhenAMethodWasHowGoodAndThePageSaysHowFastItCameNear) {
  ASSERT_EQ(in_folder({"improve", "--hours", "0.0003", "--seconds", "0.5", "--methods", "best"}).exit_code, 0);
  const Finished done = in_folder({"race", "single", "best", "--seconds", "1"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const std::string race = folder_ / "kept/race.tsv";
  const std::string recorded = read_file(race);
  EXPECT_THAT(recorded, AllOf(HasSubstr(tiny + "\tbest\t0\t1\t"), HasSubstr(tiny + "\tsingle\t0\t1\t")));
  ASSERT_EQ(in_folder({"race", "single", "best", "--seconds", "1"}).exit_code, 0);
  EXPECT_EQ(read_file(race), recorded) << "no run was missing";

  // A step of 1.04 times the best known after 2 s and of 1.005 times after 7: within 5 % after 2 s, within 1 % after 7.
  const std::int64_t best = std::stoll(row().at(step));
  write_file(race,
             fmt::format("{}\n{}\tclimb\t0\t10\t1\t0.1.0\t2.000:{} 7.000:{}\n{}\tsingle\t0\t10\t1\t0.1.0\t0.500:{}\n",
                         split(recorded, '\n').at(0), tiny, best * 104 / 100, best * 1005 / 1000, tiny, best * 2));
  const std::string page = folder_ / "page.md";
  ASSERT_EQ(in_folder({"page", "-o", page}).exit_code, 0);
  EXPECT_THAT(read_file(page),
              AllOf(HasSubstr("| `climb` | 1 | 1 | 2 | 1 | 7 | 0.50 % |"),
                    HasSubstr("| `single` | 1 | 0 | - | 0 | - | 100.00 % |"), HasSubstr("| 2 / 7 | - |")));
}

TEST_F(BestKnownFolder, RefusesAPlacementOrAProblemThatIsNotThere) {
  const std::string file = folder_ / "bad.json";
  expect_refused({"submit", file, "--problem", tiny, "--by", "Ada"}, HasSubstr("bad.json"));
  write_file(file, R"({"emplace": "placement/1", "ops": {"a": "gpu:0"}})");
  expect_refused({"submit", file, "--problem", tiny, "--by", "Ada"}, HasSubstr("not one of this problem"));
  expect_refused({"submit", file, "--problem", "zoo:inception-v3@k40x2", "--by", "Ada"},
                 AllOf(HasSubstr("no kept problem is called 'zoo:inception-v3@k40x2'"), HasSubstr(tiny)));
  expect_refused({"check", "--only", "vgg"}, HasSubstr("vgg"));
  expect_refused({"race", "clmb", "--seconds", "1"}, HasSubstr("'clmb' is neither a placer nor a recipe"));
}

TEST_F(BestKnownFolder, CheckNamesAProblemWhoseContentHasChanged) {
  set(digest, std::string(32, '0'));
  expect_refused({"check"}, AllOf(HasSubstr(tiny), HasSubstr("its content has changed"), HasSubstr("best-known add")));
  // Adding it again begins it anew.
  ASSERT_EQ(in_folder({"add", "zoo", tiny, "--seconds", "0.2"}).exit_code, 0);
  EXPECT_EQ(in_folder({"check"}).exit_code, 0);
}

TEST_F(BestKnownFolder, CheckFindsAPlacementWhoseStepIsAnotherOne) {
  // Both files are consistent, and only the simulation shows that the figure is wrong.
  const std::string kept = row().at(step), told = fmt::format("{}", std::stoll(kept) + 1);
  set(step, told);
  std::string line = read_file(placements_);
  line.replace(line.find(kept), kept.size(), told);
  write_file(placements_, line);
  expect_refused({"check"}, HasSubstr("takes " + kept + " ps, and not the " + told));
}

TEST_F(BestKnownFolder, RefusesDamagedLines) {
  const std::string index = read_file(index_), placements = read_file(placements_);
  set(bound, std::to_string(std::stoll(row().at(step)) + 1));
  expect_refused({"check"}, AllOf(HasSubstr("zoo.tsv:2"), HasSubstr("the bound of")));
  write_file(index_, index);
  set(step, "fast");
  expect_refused({"check"}, AllOf(HasSubstr("zoo.tsv:2"), HasSubstr("step_ps is a whole number, found 'fast'")));
  write_file(index_, index + "half a row\n");
  expect_refused({"check"}, AllOf(HasSubstr("zoo.tsv:3"), HasSubstr("cells")));
  write_file(index_, index);
  write_file(placements_, placements.substr(0, placements.size() / 2));
  expect_refused({"check"}, HasSubstr("zoo.placements.jsonl:1: the line is damaged"));
  std::string changed = placements;
  std::string::size_type at = changed.find("\"devices\": \"") + 12;
  changed[at + 4] = changed[at + 4] == 'A' ? 'B' : 'A';
  write_file(placements_, changed);
  expect_refused({"check"}, HasSubstr("is damaged"));
  write_file(placements_, "");
  expect_refused({"check"}, HasSubstr("no line has the placement of " + tiny));
}

TEST_F(BestKnownFolder, RefusesAPlacementThatIsNotFeasible) {
  // k40x2 has a CPU and two GPUs; a model whose weights need more memory than a GPU has.
  const std::string large = "zoo:gpt-2?size=xl&training=true@k40x2";
  const std::string file = folder_ / "single.json";
  ASSERT_EQ(emplace_run({"place", "device:cpu:0", large, "-o", file}).exit_code, 0);
  ASSERT_EQ(in_folder({"add", "zoo", large, "--method", "single", "--seconds", "0.2"}).exit_code, 0);
  std::string placement = read_file(file);
  for (std::string::size_type at = 0; (at = placement.find("\"cpu:0\"", at)) != std::string::npos; at += 7)
    placement.replace(at, 7, "\"gpu:0\"");
  write_file(file, placement);
  expect_refused({"submit", file, "--problem", large, "--by", "Ada"}, HasSubstr("the placement is not feasible: "));
}

}  // namespace
}  // namespace emplace::test::best_known_test
