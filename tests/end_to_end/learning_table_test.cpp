// scripts/learning-table: one command makes the table and the curves of learned placers from recipes.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::learning_table_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LearningTable : public ::testing::Test {
 protected:
  Finished table(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"env", std::string("EMPLACE=") + EMPLACE_PROGRAM,
                                         std::string(EMPLACE_SOURCE) + "/scripts/learning-table", out_});
    return run(arguments);
  }
  std::vector<std::string> lines(const std::string& name) const {
    std::vector<std::string> list;
    std::string rest = read_file(out_ + "/" + name);
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
      list.push_back(rest.substr(0, end));
    return list;
  }
  TemporaryFolder folder_;
  std::string out_ = folder_ / "table";
  const std::string problem_ = "zoo:inception-v3?training=true@k40x2";
  const std::vector<std::string> small_ = {"--evaluations",  "200", "--seeds", "2", "--recipes", "post", problem_,
                                           "--best-seconds", "0.1", "--jobs",  "2"};
};

// The evaluations of a run of the table, by its own metrics: the budget of 200, less what was too little for an update.
int evaluations_of(const std::string& run, const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/runs"))
    if (entry.path().string().ends_with(run + "/metrics.csv")) {
      std::string metrics = read_file(entry.path());
      metrics.pop_back();  // the last line's end
      const std::string last = metrics.substr(metrics.rfind('\n') + 1);
      return std::stoi(last.substr(last.find(',') + 1));
    }
  return 0;
}

TEST_F(LearningTable, HoldsOpponentsAndEverySeedAndRunsOnlyWhatIsMissing) {
  const auto done = table(small_);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(StartsWith("post: at least as good as every baseline on "),
                              HasSubstr("with as many evaluations on ")));
  EXPECT_THAT(done.err, HasSubstr("10 of 10  " + problem_));

  std::vector<std::string> rows = lines("learning.csv");
  ASSERT_EQ(rows.size(), 1 + 8 + 2U);
  std::vector<std::string> methods;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    ASSERT_THAT(rows[i], StartsWith(problem_ + ","));
    const std::size_t method = problem_.size() + 1, seed = rows[i].find(',', method) + 1;
    methods.push_back(rows[i].substr(method, rows[i].find(',', seed) - method));
    EXPECT_THAT(rows[i], HasSubstr(",true,"));
  }
  std::ranges::sort(methods);
  EXPECT_THAT(methods, ElementsAre("best,-", "best-equal,-", "expert,-", "metis,-", "mincut,-", "post,1", "post,2",
                                   "random,-", "scotch,-", "single,-"));
  const std::string page = read_file(out_ + "/learning.md");
  EXPECT_THAT(page, AllOf(HasSubstr("--evaluations 200 --best-seconds 0.1"), HasSubstr("## " + problem_),
                          HasSubstr("| post | "), HasSubstr(" | 200 | ")));
  // Each run's curve ends with its last evaluation.
  const std::vector<std::string> curves = lines("curves.csv");
  EXPECT_EQ(curves.front(), "problem,recipe,seed,evaluations,seconds,best_s");
  for (const char* seed : {"1", "2"}) {
    const std::string start = problem_ + ",post," + seed + ",";
    std::string last;
    double best = 1e9;
    for (const std::string& line : curves)
      if (line.starts_with(start)) {
        last = line;
        const double now = std::stod(line.substr(line.rfind(',') + 1));
        EXPECT_LE(now, best);
        best = now;
      }
    EXPECT_THAT(last, StartsWith(start + std::to_string(evaluations_of(std::string("post/") + seed, out_)) + ","));
  }

  // As after an interrupted call: an incomplete row, and a run's folder without a row.
  std::string text = read_file(out_ + "/learning.csv");
  const auto same_rows = [&] {
    std::vector<std::string> list = lines("learning.csv");
    for (std::string& row : list) row.erase(row.rfind(','));  // without the seconds
    std::ranges::sort(list);
    return list;
  };
  const auto before = same_rows();
  // `best` has a budget of seconds, so the row that is computed again is that of a training.
  std::string last;
  for (const std::string& row : lines("learning.csv"))
    if (row.find(",post,2,") != std::string::npos) last = row + "\n";
  ASSERT_NE(last, "");
  text.erase(text.find(last), last.size());
  write_file(out_ + "/learning.csv", text + last.substr(0, last.size() - 10));
  const auto again = table(small_);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(same_rows(), before);
  EXPECT_EQ(std::ranges::count(again.err, '\n'), 1) << again.err;
  EXPECT_THAT(again.err, StartsWith("1 of 1  " + problem_));
}

TEST_F(LearningTable, ChangesRecipesAsItIsTold) {
  const auto done = table({"--evaluations", "60", "--seeds", "1", "--best-seconds", "0.1", "--recipes",
                           "post post+groups=20+post.steps=proximal+post.coarse_units=0", problem_});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(read_file(out_ + "/learning.csv"),
              HasSubstr(problem_ + ",post+groups=20+post.steps=proximal+post.coarse_units=0,1,0."));
  EXPECT_THAT(read_file(out_ + "/learning.md"),
              HasSubstr("| post+groups=20+post.steps=proximal+post.coarse_units=0 | "));
  EXPECT_THAT(done.out, HasSubstr("\npost+groups=20+post.steps=proximal+post.coarse_units=0: at least"));
}

TEST_F(LearningTable, ChangesRecipesWhereAProblemSaysSo) {
  const std::string changed = problem_ + "+groups=20+schedule=in-order";
  const auto done =
      table({"--evaluations", "60", "--seeds", "1", "--best-seconds", "0.1", "--recipes", "post", changed});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(read_file(out_ + "/learning.csv"), HasSubstr("\n" + changed + ",post,1,0."));
  // An option that changes the simulation also changes it for the placers in the comparison.
  const auto in_order =
      emplace_run({"place", "random", problem_, "--schedule", "in-order", "--evaluations", "60", "--json"});
  std::string random;
  for (const std::string& row : lines("learning.csv"))
    if (row.starts_with(changed + ",random,-,")) random = row;
  const double step = json::parse(in_order.out)["makespan_s"];
  EXPECT_NEAR(std::stod(random.substr((changed + ",random,-,").size())), step, 1e-9) << random;
  EXPECT_THAT(read_file(out_ + "/learning.md"), HasSubstr("## " + changed + "\n"));
  std::string config;
  for (const auto& each : std::filesystem::recursive_directory_iterator(out_ + "/runs"))
    if (each.path().filename() == "config.toml") config = read_file(each.path());
  EXPECT_THAT(config, AllOf(HasSubstr("groups = 20\n"), HasSubstr("schedule = \"in-order\"\n")));
}

// A fake program whose trainings end in a known way: with seed 1 within 5 % of its last step time from 60 evaluations
// on, of seed 2 from 80 on, of seeds 3 and 4 without anything feasible.
TEST_F(LearningTable, TellsWhenARunCameNearItsEnd) {
  const std::string program = folder_ / "program";
  write_file(program, R"(#!/usr/bin/env bash
for word in "$@"; do case $word in run=*) folder=${word#run=} ;; seed=*) seed=${word#seed=} ;; esac; done
step=0.5 feasible=true
if [ "$1" = train ]; then
  mkdir -p "$folder"
  echo update,evaluations,best_step_time,wall_seconds >"$folder/metrics.csv"
  echo "1,20,nan,1" >>"$folder/metrics.csv"
  if [ "$seed" -gt 2 ]; then
    feasible=false
  else
    step=0.39
    echo "2,$((20 + 20 * seed)),0.6,2
3,$((40 + 20 * seed)),0.4,$((2 + seed))
4,100,0.39,9" >>"$folder/metrics.csv"
  fi
fi
printf '"makespan_s": %s,\n"feasible": %s,\n"evaluations": 100,\n"seconds": 9\n' "$step" "$feasible"
)");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto page = [&](const char* seeds) {
    const auto done = run({"env", "EMPLACE=" + program, std::string(EMPLACE_SOURCE) + "/scripts/learning-table", out_,
                           "--seeds", seeds, "--recipes", "post", problem_});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return read_file(out_ + "/learning.md");
  };
  EXPECT_THAT(page("2"),
              HasSubstr("| post | 390 | 390 | 390 | -22.0 % | 100 | 9.0 | 70 | 3.5 | yes | yes | yes | yes |\n"));
  EXPECT_THAT(page("3"), HasSubstr("| post | 390 | 390 | infeasible | -22.0 % | 100 | 9.0 | 70 | 3.5 | yes |"));
  EXPECT_THAT(page("4"), HasSubstr("| post | infeasible | 390 | infeasible |  | 100 | 9.0 | 70 | 3.5 | no |"));
  // For rows without run folders, for example from another machine, only the values in the row are known.
  std::filesystem::remove_all(out_ + "/runs");
  EXPECT_THAT(page("4"), HasSubstr("| post | infeasible | 390 | infeasible |  | 100 | 9.0 | | | no |"));
}

TEST_F(LearningTable, RefusesWhatItCannotDo) {
  EXPECT_EQ(run({std::string(EMPLACE_SOURCE) + "/scripts/learning-table"}).exit_code, 2);
  EXPECT_THAT(table({"--seeds", "0"}).err, HasSubstr("--seeds needs a whole number above zero, got '0'"));
  EXPECT_THAT(table({"--recipes", "unknown"}).err, HasSubstr("there is no configs/recipes/unknown.toml"));
  EXPECT_THAT(table({"--recipes", "post+compare=[1,2]"}).err,
              HasSubstr("no commas, quotes or line ends in 'post+compare"));
  EXPECT_THAT(table({"a,b.json"}).err, HasSubstr("no commas"));
  EXPECT_THAT(table({"--sseeds", "1"}).err, HasSubstr("Usage"));
  const auto unreadable = table({"none.json"});
  EXPECT_NE(unreadable.exit_code, 0);
  EXPECT_THAT(unreadable.err, HasSubstr("none.json"));
  EXPECT_THAT(table({"--evaluations", "7", "none.json"}).err,
              HasSubstr("table of other settings (--evaluations 100000"));
}

}  // namespace
}  // namespace emplace::test::learning_table_test
