// `emplace reproduce` from the command line: the table's formats, the same figures for any number of ranks, an
// interruption and a second start.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::reproduce_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Two rows; everything in evaluations, so that nothing depends on a clock.
constexpr const char* two_rows = R"(
title = "Small & simple"
source = "nobody, table 7"
methods = ["cpu-only", "greedy", "post"]
notes = ["said of the whole"]
[calibration]
cpu = "cpu-only"
[method.post]
label = "learned"
recipe = "quickstart"
options = { "post.samples_per_update" = 10, "post.window" = 50 }
quick_seeds = 2
budget.evaluations = 200
quick.evaluations = 100
[best]
budget.evaluations = 200
quick.evaluations = 200
[[row]]
label = "One"
model = "rnnlm"
graph = "zoo:rnnlm?layers=1&sequence=4&hidden=64&vocabulary=500&training=true"
machine = "laptop"
published = { cpu-only = 0.25, greedy = "OOM", post = 0.5 }
[[row]]
label = "Two"
model = "nmt"
graph = "zoo:nmt?layers=1&sequence=1&hidden=64&vocabulary=500&training=true"
machine = "laptop"
unconfirmed = ["greedy"]
published = { greedy = 0.125 }
notes = ["said of the row"]
)";

class Reproduce : public ::testing::Test {
 protected:
  void SetUp() override { write_file(table_, two_rows); }
  // table.csv without the clock.
  std::string figures(const std::string& folder) const {
    std::string text;
    for (const std::string& line : split(read_file(folder_ / folder + "/table.csv"), '\n'))
      text += line.substr(0, line.rfind(',')) + "\n";
    return text;
  }
  TemporaryFolder folder_;
  std::string table_ = folder_ / "small.toml";
};

TEST_F(Reproduce, PrintsTheDesignPagesKeys) {
  const auto done = emplace_run({"reproduce", table_, "--quick", "--json", "-o", folder_ / "out"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json table = json::parse(done.out);
  EXPECT_EQ(table["table"], "small");
  ASSERT_EQ(table["rows"].size(), 10u) << "three methods, best and bound, in two rows";
  const auto row = [&](const char* model, const char* method) {
    for (const json& each : table["rows"])
      if (each["model"] == model && each["method"] == method) return each;
    return json();
  };
  const json cpu = row("rnnlm", "cpu-only"), greedy = row("rnnlm", "greedy"), learned = row("rnnlm", "post");
  EXPECT_EQ(cpu["published_s"], 0.25);
  EXPECT_EQ(cpu["published_status"], "confirmed");
  EXPECT_EQ(cpu["status"], "ok");
  EXPECT_NEAR(cpu["ours_s"], 0.25, 1e-6);
  EXPECT_TRUE(greedy["published_s"].is_null());
  EXPECT_EQ(greedy["published_status"], "OOM");
  EXPECT_LE(learned["low_s"], learned["ours_s"]);
  EXPECT_LE(learned["ours_s"], learned["high_s"]);
  EXPECT_EQ(row("nmt", "greedy")["published_status"], "unconfirmed");
  EXPECT_TRUE(row("nmt", "post")["published_status"].is_null());
  EXPECT_LE(row("nmt", "bound")["ours_s"], row("nmt", "best")["ours_s"]);
  EXPECT_TRUE(table["fidelity"].contains("orderings_agree"));
}

TEST_F(Reproduce, WritesTheTableForPeoplePapersAndPrograms) {
  const auto done = emplace_run({"reproduce", table_, "--quick", "-o", folder_ / "out"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("Small & simple (nobody, table 7)"));
  EXPECT_THAT(done.out, HasSubstr("Two: said of the row\nsaid of the whole\n"));
  EXPECT_THAT(done.out, HasSubstr("~0.125"));
  EXPECT_THAT(read_file(folder_ / "out/table.md"), HasSubstr("| One | published | **0.25** | OOM | 0.5 | | |\n"));
  EXPECT_THAT(read_file(folder_ / "out/table.tex"),
              HasSubstr("\\begin{tabular}{llrrrrr}\n\\toprule\nmodel & & cpu-only"));
  EXPECT_THAT(read_file(folder_ / "out/table.csv"), HasSubstr("\nOne,rnnlm,greedy,,OOM,"));
}

// The learned column has four trainings: two rows, two seeds.
TEST_F(Reproduce, WarnsOnceOfWhatConcernsEveryTraining) {
  std::string table = two_rows;
  const std::string option = "\"post.window\" = 50";
  table.replace(table.find(option), option.size(), option + ", demonstrations_share = 0.1");
  write_file(table_, table);
  const auto done = emplace_run({"reproduce", table_, "--quick", "-o", folder_ / "out"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const std::string warning = "warning: demonstrations_share has no effect: demonstrations is false\n";
  const std::size_t at = done.err.find(warning);
  ASSERT_NE(at, std::string::npos) << done.err;
  EXPECT_EQ(done.err.find("warning:", at + 1), std::string::npos) << done.err;
}

TEST_F(Reproduce, GivesTheSameFiguresAtAnyNumberOfRanks) {
  ASSERT_EQ(emplace_run({"reproduce", table_, "--quick", "-o", folder_ / "1"}).exit_code, 0);
  for (const int ranks : {2, 4}) {
    const std::string name = std::to_string(ranks);
    const auto done = emplace_run(ranks, {"reproduce", table_, "--quick", "-o", folder_ / name});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(figures(name), figures("1"));
  }
  const auto of_two = emplace_run(3, {"reproduce", table_, "--quick", "--ranks-per-cell", "2", "-o", folder_ / "3"});
  ASSERT_EQ(of_two.exit_code, 0) << of_two.err;
  EXPECT_EQ(figures("3"), figures("1"));
}

TEST_F(Reproduce, WaitsForTrainingsOnSeveralRowsAtAnyNumberOfRanks) {
  std::string shared = two_rows;
  shared.replace(shared.find("\"post\"]"), 7, R"("drawn", "post"])");
  shared.replace(shared.find("[method.post]\n"), 14, R"([pretraining.tuned]
recipe = "gdp-pretrain"
options = { problems_per_update = 1, groups = 8, gdp.hidden = 8, gdp.heads = 2, ppo.samples_per_update = 4 }
quick.evaluations = 40
[method.drawn]
pretrained = "tuned"
quick.evaluations = 5
[method.post]
together = true
)");
  write_file(table_, shared);
  ASSERT_EQ(emplace_run({"reproduce", table_, "--quick", "-o", folder_ / "1"}).exit_code, 0);
  EXPECT_THAT(figures("1"), HasSubstr("\nTwo,nmt,drawn,,,"));
  for (const int ranks : {2, 4}) {
    const std::string name = std::to_string(ranks);
    const auto done = emplace_run(ranks, {"reproduce", table_, "--quick", "-o", folder_ / name});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(figures(name), figures("1"));
  }
}

TEST_F(Reproduce, MakesATableWithFewerSeedsFirstAndTheOtherSeedsLater) {
  const std::vector<std::string> all = {"reproduce", table_, "--quick", "-o", folder_ / "out"};
  std::vector<std::string> few = all;
  few.insert(few.end(), {"--seeds", "1"});
  const auto first = emplace_run(few);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("small.toml --quick --seeds 1"));
  EXPECT_THAT(first.out, HasSubstr("learned 100 evaluations, 1 seed;"));
  EXPECT_TRUE(file_exists(folder_ / "out/cells/one.post.0.json"));
  EXPECT_FALSE(file_exists(folder_ / "out/cells/one.post.1.json"));
  const auto kept = std::filesystem::last_write_time(folder_ / "out/cells/one.post.0.json");
  const auto later = emplace_run(all);
  ASSERT_EQ(later.exit_code, 0) << later.err;
  EXPECT_THAT(later.out, HasSubstr("learned 100 evaluations, 2 seeds;"));
  EXPECT_TRUE(file_exists(folder_ / "out/cells/one.post.1.json"));
  EXPECT_EQ(std::filesystem::last_write_time(folder_ / "out/cells/one.post.0.json"), kept) << "it is not made again";
}

TEST_F(Reproduce, EndsWithItsTimeAndGoesOnByTheSameCommand) {
  std::string longer = two_rows;
  // Two seconds of trainings on any machine: each placement takes 5 ms.
  longer.replace(longer.find("options = { "), 12, R"(options = { evaluator = "sleep", "sleep.seconds" = 0.005, )");
  write_file(table_, longer);
  ASSERT_EQ(emplace_run({"reproduce", table_, "--quick", "-o", folder_ / "undisturbed"}).exit_code, 0);
  const std::vector<std::string> command = {"reproduce", table_, "--quick", "-o", folder_ / "out"};
  // A second more at each start: on a busy machine, a second may pass before the first training has gone on.
  const auto in_seconds = [&](int seconds) {
    std::vector<std::string> limited = command;
    limited.insert(limited.end(), {"--time-limit", fmt::format("{}s", seconds)});
    return emplace_run(2, limited);
  };
  auto done = in_seconds(1);
  EXPECT_EQ(done.exit_code, 75) << "one second is not enough";
  for (int starts = 1; done.exit_code == 75; ++starts) {
    ASSERT_LT(starts, 60) << done.err;
    EXPECT_THAT(done.err, HasSubstr("the same command goes on"));
    done = in_seconds(1 + starts);
  }
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(figures("out"), figures("undisturbed"));
}

TEST_F(Reproduce, MakesTheOtherCellsWhereOneCannotBeMadeAndSaysSo) {
  for (const int ranks : {1, 3}) {
    const std::string folder = folder_ / fmt::format("out{}", ranks);
    std::filesystem::create_directories(folder + "/cells/one.greedy.0.placement.json");
    const auto done = emplace_run(ranks, {"reproduce", table_, "--quick", "-o", folder});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.err, HasSubstr("one.greedy.0: "));
    EXPECT_THAT(done.err, HasSubstr("the same command goes on"));
    EXPECT_THAT(read_file(folder + "/table.csv"), HasSubstr("Two,nmt,best,,,0.")) << "the last row";
    std::filesystem::remove(folder + "/cells/one.greedy.0.placement.json");
    EXPECT_EQ(emplace_run(ranks, {"reproduce", table_, "--quick", "-o", folder}).exit_code, 0);
  }
}

TEST_F(Reproduce, RefusesWhatItCannotDo) {
  const auto refused = [](const std::vector<std::string>& arguments, const char* says) {
    const auto done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 2) << done.err;
    EXPECT_THAT(done.err, HasSubstr(says));
    EXPECT_EQ(done.out, "");
  };
  refused({"reproduce"}, "table");
  refused({"reproduce", "no-such"}, "unknown table 'no-such'");
  refused({"reproduce", folder_ / "missing.toml"}, "unknown table");
  write_file(folder_ / "bad.toml", "title = 1");
  refused({"reproduce", folder_ / "bad.toml"}, "bad.toml:1: 'title' must be a text");
  refused({"reproduce", table_, "--ranks-per-cell", "0"}, "ranks-per-cell");
  std::string other = two_rows;
  other.replace(other.find("\"laptop\""), 8, "\"lapdog\"");
  write_file(folder_ / "lapdog.toml", other);
  refused({"reproduce", folder_ / "lapdog.toml", "-o", folder_ / "out"}, "unknown machine 'lapdog'");
  write_file(folder_ / "typo.toml", std::string(two_rows).replace(std::string(two_rows).find("?layers"), 7, "?layrs"));
  refused({"reproduce", folder_ / "typo.toml", "-o", folder_ / "out"}, "unknown key 'layrs'");
  const auto few = emplace_run(2, {"reproduce", table_, "--ranks-per-cell", "2", "-o", folder_ / "out"});
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_THAT(few.err, HasSubstr("one of the 2 ranks only hands out cells: start at least 3"));
}

}  // namespace
}  // namespace emplace::test::reproduce_test
