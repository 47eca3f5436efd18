// scripts/learned-against-search: the tables of a small measurement, and which runs a second call makes.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::learned_against_search_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class LearnedAgainstSearch : public ::testing::Test {
 protected:
  // With the program of a folder that comes first on the PATH.
  Finished measured(const std::string& programs, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"env", "PATH=" + programs + ":" + std::getenv("PATH"),
                                         std::string(EMPLACE_SOURCE) + "/scripts/learned-against-search", out_});
    return run(arguments);
  }
  Finished measured(const std::vector<std::string>& arguments) {
    return measured(std::filesystem::path(EMPLACE_PROGRAM).parent_path(), arguments);
  }
  std::size_t runs() const {
    const std::string text = read_file(out_ + "/runs.jsonl");
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
  TemporaryFolder folder_;
  const std::string out_ = folder_ / "measured";
};

TEST_F(LearnedAgainstSearch, MeasuresEveryTableOfASmallProblem) {
  const std::string recipe = folder_ / "recipe.toml";
  write_file(recipe, R"(problems = ["zoo:inception-v3?detail=layer@drawn-1", "zoo:rnnlm?layers=1&sequence=2@drawn-2"]
policy = "gdp"
learner = "cross-entropy"
groups = 16
updates = 1
compare = []
[gdp]
hidden = 8
heads = 2
feedforward = 8
device_head = "features"
[cross-entropy]
samples_per_update = 2
fit_steps = 1
)");
  const std::vector<std::string> tiny = {"--only",   "zoo:inception-v3?detail*",
                                         "--seeds",  "1",
                                         "--long",   "0.3",
                                         "--middle", "0.3",
                                         "--short",  "0.1",
                                         "--jobs",   "2",
                                         "--recipe", recipe,
                                         "--policy", "random"};
  const Finished done = measured(tiny);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(ContainsRegex("problem +learned, random +learned, shipped +ratio +classic 0.3 s +ratio +best "
                                  "known +ratio\ninception-v3[?]detail=layer@p100x4 +[0-9.]+ ms"),
                    ContainsRegex("problem +best, random +best, shipped +ratio +best known +ratio\n"),
                    ContainsRegex("problem +learned, random +learned, without-families +ratio +classic 0.5 s "
                                  "+ratio +classic 1 s +ratio +best known +ratio\n")));
  // 2 learned and a classic; 2 best; 2 learned and 2 classic.
  EXPECT_EQ(runs(), 3 + 2 + 4U);
  EXPECT_THAT(done.err, AllOf(HasSubstr("9 of 9 runs, 0 s left: inception-v3?detail=layer@p100x4  "),
                              HasSubstr("training " + out_ + "/policies/random-1\n")));
  EXPECT_THAT(read_file(out_ + "/policies/without-families/config.toml"),
              AllOf(HasSubstr("rnnlm"), Not(HasSubstr("inception"))));
  EXPECT_EQ(measured(tiny).out, done.out) << "nothing is measured twice";
  EXPECT_EQ(runs(), 9U);
}

// A program whose placements take known times (unless there is a file `infeasible` beside it): of gnmt 90, 110, 100 ms
// by `learned` with seeds 1 to 3, 100, 125, 130 by `best roles=classic`, and of vit 104 and 100 ms. 80 and 100 ms are
// the best known.
class OfKnownTimes : public LearnedAgainstSearch {
 protected:
  OfKnownTimes() {
    make_folder(kept_);
    make_folder(programs_);
    std::string rows =
        "problem\tobjective\tschedule\tops\tdevices\tdigest\tstep_ps\tbound_ps\tbound_"
        "by\twho\thow\tversion\tdate\ttries"
        "\ttried_s\n";
    for (const char* row : {"gnmt@k40x2\tstep\tfifo\t1\t1\tsame\t80", "vit-b-16@k40x2\tstep\tfifo\t1\t1\tsame\t100"})
      rows += std::string("zoo:") + row + "000000000\t1\tb\tw\th\tv\td\t0\t0\n";
    write_file(kept_ + "/zoo.tsv", rows);
    write_file(programs_ + "/emplace", R"(#!/usr/bin/env bash
if [ "$1" = inspect ]; then
  echo '{"kind": "problem", "digest": "same", "op_names": ["a"], "device_names": ["x"]}'
  exit
fi
for word in "$@"; do if [ "$last" = --seed ]; then seed=$word; fi; last=$word; done
case "$2 $3 $4" in
  *vit*classic*) ms=100 ;;
  *vit*) ms=104 ;;
  *classic*) of=(0 100 125 130) ms=${of[$seed]} ;;
  *) of=(0 90 110 100) ms=${of[$seed]} ;;
esac
if [ -e "$(dirname "$0")/infeasible" ]; then feasible=false; else feasible=true; fi
echo "{\"feasible\": $feasible, \"makespan_ps\": ${ms}000000000, \"seconds\": 1}"
)");
    std::filesystem::permissions(programs_ + "/emplace", std::filesystem::perms::owner_all);
  }
  Finished of_equal_time(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--parts", "equal", "--best-known", kept_});
    return measured(programs_, more);
  }
  const std::string kept_ = folder_ / "kept", programs_ = folder_ / "programs";
};

// Medians: 100 / 125 = 0.8 and 104 / 100 = 1.04, whose geometric mean is sqrt(0.832) = 0.912; 100 / 80 = 1.25 and
// 104 / 100, sqrt(1.3) = 1.140.
TEST_F(OfKnownTimes, PrintsMediansTheirRatiosAndWhatTheyComeTo) {
  const Finished done = of_equal_time({"--seeds", "3"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr(R"(
medians of 3 seeds; problems: 2; ratio: learned by the other

problem               learned  classic 30 s  ratio  best known  ratio
gnmt@k40x2             100 ms        125 ms  0.800       80 ms  1.250
vit-b-16@k40x2         104 ms        100 ms  1.040      100 ms  1.040
geometric mean                               0.912              1.140
worst                                        1.040              1.250
not above it                                  50 %                0 %
at most 1 % above it                          50 %                0 %
at most 5 % above it                         100 %               50 %
worst against classic 30 s: vit-b-16@k40x2
worst against best known: gnmt@k40x2
)"));
}

TEST_F(OfKnownTimes, MakesOnlyTheRunsThatAreMissing) {
  ASSERT_EQ(of_equal_time({"--seeds", "1", "--only", "gnmt"}).exit_code, 0);
  ASSERT_EQ(runs(), 2U);
  // As an interrupted call leaves it.
  write_file(out_ + "/runs.jsonl", read_file(out_ + "/runs.jsonl") + R"({"problem": "zoo:)");
  const Finished more = of_equal_time({"--seeds", "2"});
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(std::ranges::count(more.err, '\n'), 6) << more.err;
  EXPECT_EQ(runs(), 8U);
  // Another program's runs are its own.
  write_file(programs_ + "/emplace", read_file(programs_ + "/emplace") + "# changed\n");
  ASSERT_EQ(of_equal_time({"--seeds", "1", "--only", "gnmt"}).exit_code, 0);
  EXPECT_EQ(runs(), 10U);
}

TEST_F(OfKnownTimes, CountsARunThatFoundNothingFeasibleAsInfinitelySlow) {
  write_file(programs_ + "/infeasible", "");
  const Finished done = of_equal_time({"--seeds", "1", "--only", "gnmt"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, ContainsRegex("gnmt@k40x2 +infeasible +infeasible +80 ms +inf\n"));
}

TEST_F(OfKnownTimes, RefusesWhatItCannotMeasure) {
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Finished done = of_equal_time(arguments);
    EXPECT_EQ(done.exit_code, 2) << done.out;
    return done.err;
  };
  EXPECT_THAT(refused({"--only", "alexnet"}), EndsWith("no kept problem's name contains or matches alexnet\n"));
  EXPECT_THAT(refused({"--policy", folder_ / "none"}), EndsWith("/none is no run folder: it has no checkpoint.h5\n"));
  EXPECT_THAT(refused({"--recipe", folder_ / "none.toml"}), EndsWith("none.toml: there is no such file or folder\n"));
  EXPECT_THAT(refused({"--seeds", "0"}), HasSubstr("argument --seeds: invalid"));
  EXPECT_THAT(refused({"--parts", "half"}), HasSubstr("argument --parts: invalid"));
  std::string rows = read_file(kept_ + "/zoo.tsv");
  for (std::size_t at = 0; (at = rows.find("same", at)) != std::string::npos;) rows.replace(at, 4, "else");
  write_file(kept_ + "/zoo.tsv", rows);
  EXPECT_THAT(refused({}), HasSubstr("gnmt@k40x2: its content has changed since its placement was kept"));
  write_file(out_ + "/runs.jsonl", "{}\n");
  EXPECT_THAT(refused({}), HasSubstr("runs.jsonl:1: the line is damaged"));
}

}  // namespace
}  // namespace emplace::test::learned_against_search_test
