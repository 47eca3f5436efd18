// scripts/ablations: its table, and which runs a second call makes. The program is replaced by a script with known
// times.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::ablations_test {
namespace {

using ::testing::HasSubstr;

class Ablations : public ::testing::Test {
 protected:
  // Seeds 1 to 3 of `best` take 80, 120 and 100 ms, without searches 125, and of `learned` 90.
  Ablations() {
    std::filesystem::create_directories(folder_ / "bin");
    const std::string file = folder_ / "bin/emplace";
    write_file(file, R"(#!/usr/bin/env bash
for word in "$@"; do [ "$last" = --seed ] && seed=$word; last=$word; done
case "$*" in
  train*) for word in "$@"; do case $word in run=*) mkdir -p "${word#run=}"; echo finished > "${word#run=}/status"; touch "${word#run=}/checkpoint.h5";; esac; done; ms=50 ;;
  *layers,ruin*) ms=125 ;;
  *learned*) ms=90 ;;
  *) of=(0 80 120 100) ms=${of[$seed]} ;;
esac
echo "{\"feasible\": true, \"makespan_s\": 0.${ms}}" | sed 's/0\.\([0-9][0-9]\)}/0.0\1}/'
)");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  Finished ablations(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"env", "PATH=" + (folder_ / "bin") + ":" + std::getenv("PATH"),
                                         std::string(EMPLACE_SOURCE) + "/scripts/ablations", folder_ / "out"});
    return run(arguments);
  }
  [[nodiscard]] std::ptrdiff_t runs() const { return std::ranges::count(read_file(folder_ / "out/runs.jsonl"), '\n'); }
  TemporaryFolder folder_;
};

TEST_F(Ablations, PrintsMediansAndWhatTheyAreToTheWholeMethodAndMakesNoRunTwice) {
  const std::vector<std::string> arguments = {"--seeds",    "3",    "--only",     "wavenet",
                                              "--variants", "best", "--variants", "learned"};
  const Finished done = ablations(arguments);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("| wavenet@p100x4 | 100 ms | 125 ms |"));
  EXPECT_THAT(done.out, HasSubstr("| geometric mean of the ratio | 1.000 | 1.250 |"));
  EXPECT_THAT(done.out, HasSubstr("learned with random parameters"));
  EXPECT_EQ(runs(), 5 * 3);
  EXPECT_EQ(ablations(arguments).out, done.out);
  EXPECT_EQ(runs(), 5 * 3);
}

TEST_F(Ablations, TrainsRecipesWithoutTheirPartsAndLeavesNoRunFolder) {
  const Finished done = ablations({"--seeds", "1", "--only", "wavenet", "--variants", "post"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("| post | post without polish | post without demonstrations |"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "out/trainings"));
}

TEST_F(Ablations, DropsAPartOfALineAndRefusesADamagedOne) {
  const std::vector<std::string> arguments = {"--seeds", "1", "--only", "wavenet", "--variants", "post"};
  ASSERT_EQ(ablations(arguments).exit_code, 0);
  const std::string file = folder_ / "out/runs.jsonl", whole = read_file(file);
  write_file(file, whole + R"({"key": ["zoo)");
  EXPECT_EQ(ablations(arguments).exit_code, 0);
  EXPECT_EQ(read_file(file), whole);
  write_file(file, whole + "{\"key\": 1}\n");
  const Finished refused = ablations(arguments);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("out/runs.jsonl:4: the line is damaged"));
}

TEST_F(Ablations, RefusesNamesOfNoProblem) {
  const Finished done = ablations({"--only", "nowhere"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("no problem or no variant has such a name"));
}

}  // namespace
}  // namespace emplace::test::ablations_test
