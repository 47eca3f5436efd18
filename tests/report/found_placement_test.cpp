// The placements that a run keeps, which its page is made of.
#include "report/found_placement.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/problem/tiny.hpp"
#include "tests/report/trained_runs.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::report::found_placement_test {
namespace {

using ::testing::HasSubstr;

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

TEST_F(FoundPlacements, KnowWhetherTheTrainingBeganWithTheQuickPlacers) {
  EXPECT_TRUE(found_placements(run("without"), 1, shelf_)[0].subject.without_quick);
  EXPECT_FALSE(found_placements(run("with", "demonstrations = true\n"), 1, shelf_)[0].subject.without_quick);
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
}  // namespace emplace::report::found_placement_test
