// A training that is started again, with a budget of the user's, and messages about names that no terminal should get.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::started_again_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class StartedAgain : public ::testing::Test {
 protected:
  StartedAgain() { write_file(problem_, example_problem); }
  [[nodiscard]] Finished train(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train", "configs/recipes/post-published.toml", "problem=" + problem_,
                                          "compare=[]", "run=" + run_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return emplace_run(arguments);
  }
  TemporaryFolder folder_;
  const std::string problem_ = folder_ / "problem.json", run_ = folder_ / "run";
};

TEST_F(StartedAgain, ATrainingSaysWhatItsFolderHoldsAndWhatToGive) {
  ASSERT_EQ(train({"evaluations=40"}).exit_code, 0);
  const std::string before = read_file(run_ + "/metrics.csv");
  for (const char* more : {"evaluations=40", "evaluations=60"}) {
    const Finished again = train({more});
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_EQ(again.out, "");
    EXPECT_THAT(again.err,
                AllOf(HasSubstr(run_ + ": holds a finished run"), HasSubstr("--continue"), HasSubstr("run=FOLDER")));
  }
  EXPECT_EQ(read_file(run_ + "/metrics.csv"), before);
  EXPECT_FALSE(file_exists(run_ + ".1"));
  const Finished same = train({"evaluations=40", "--continue"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(read_file(run_ + "/metrics.csv"), before) << "it was done";
  EXPECT_THAT(same.out, HasSubstr("(learned)"));
  EXPECT_EQ(train({"evaluations=60", "--continue"}).exit_code, 0);
  EXPECT_NE(read_file(run_ + "/metrics.csv"), before) << "one more update";
}

TEST_F(StartedAgain, ATrainingForSecondsTakesThemWhateverTheRecipesBudget) {
  const auto begin = std::chrono::steady_clock::now();
  const Finished done = train({"seconds=3"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_THAT(done.err, HasSubstr("the training ends after 3 s\n"));
  EXPECT_THAT(read_file(run_ + "/log.txt"), HasSubstr("the training ends after 3 s"));
  const Finished more = emplace_run({"train", "--resume", run_, "seconds=3.5", "evaluations=1000000"});
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_THAT(more.err, HasSubstr("ends after 1000000 evaluations or 3.5 s, whichever comes first, earlier sessions"));
}

TEST_F(StartedAgain, MessagesQuoteNamesWithoutControlCharactersAndAsUtf8) {
  for (const std::string name : {"\x1b[31mred", "a\rb", "\xff\xfe",
                                 "\xc2\x9b"
                                 "31m"}) {
    const Finished done = emplace_run({"simulate", folder_ / name, "p.json"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("\\x"));
    EXPECT_TRUE(std::ranges::all_of(done.err, [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7F); })) << done.err;
  }
}

}  // namespace
}  // namespace emplace::test::started_again_test
