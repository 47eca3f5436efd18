#include "evaluate/command/command_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace emplace::evaluate::command_answer_test {
namespace {

using ::testing::HasSubstr;

TEST(CommandAnswer, OfManyLevelsIsRefusedInsteadOfRead) {
  // A million levels overflow the stack of a function that calls itself for each.
  for (const std::size_t levels : {17U, 1'000'000U}) {
    const std::string answer = "{\"seconds\":" + std::string(levels, '[') + std::string(levels, ']') + "}";
    EXPECT_EQ(read_command_answer(answer).failure, "it printed JSON that is nested deeper than 16 levels") << levels;
    EXPECT_EQ(read_command_answer(std::string(levels, '[')).failure,
              "it printed JSON that is nested deeper than 16 levels");
  }
}

TEST(CommandAnswer, MayGiveTheSecondsUnderEachOfThreeNames) {
  for (const std::string key : {"seconds", "makespan_s", "load_s"}) {
    const CommandAnswer answer = read_command_answer("{\"" + key + "\": 0.25}");
    EXPECT_EQ(answer.failure, "") << key;
    EXPECT_EQ(answer.seconds, 0.25) << key;
  }
  EXPECT_EQ(read_command_answer(R"({"seconds": 1, "load_s": 1})").failure, R"(it printed both "seconds" and "load_s")");
  EXPECT_EQ(read_command_answer(R"({"load_s": 1, "makespan_s": 2})").failure,
            R"(it printed both "makespan_s" and "load_s")");
}

TEST(CommandAnswer, MayHaveOtherKeysOfAFewLevels) {
  EXPECT_EQ(read_command_answer(R"({"seconds": 0.5, "devices": [{"name": "cpu:0", "busy": [1, [2]]}]})").seconds, 0.5);
}

TEST(CommandAnswer, BracketsInTextsAreNoLevels) {
  const std::string many(1000, '[');
  EXPECT_EQ(read_command_answer(R"({"seconds": 0.5, "note": ")" + many + R"(\")" + many + "\"}").seconds, 0.5);
}

TEST(CommandAnswer, ClosingBracketsAloneAreNoJson) {
  EXPECT_THAT(read_command_answer("]]]]1").failure, HasSubstr("wanted JSON"));
}

TEST(CommandAnswer, MayBeAReasonInsteadOfATime) {
  const CommandAnswer infeasible = read_command_answer(R"({"feasible": false, "reason": "out of memory"})");
  EXPECT_EQ(infeasible.failure, "out of memory");
  EXPECT_TRUE(infeasible.infeasible && infeasible.reported);
  const CommandAnswer error = read_command_answer(R"({"error": "another program has the GPU", "seconds": 1})");
  EXPECT_EQ(error.failure, "another program has the GPU");
  EXPECT_TRUE(error.reported && !error.infeasible) << "so that it is asked again";
  EXPECT_FALSE(read_command_answer(R"({"feasible": 0})").reported);
  EXPECT_EQ(read_command_answer(R"({"error": null, "seconds": 1})").seconds, 1);
}

TEST(CommandAnswer, WithAKeyTwiceIsRefused) {
  EXPECT_EQ(read_command_answer(R"({"seconds": 1, "seconds": 2})").failure, "it printed 'seconds' twice in one object");
  EXPECT_EQ(read_command_answer(R"({"seconds": 1, "devices": [{"a": 1}, {"a": 1, "b": {"a": 2}, "a": 3}]})").failure,
            "it printed 'a' twice in one object");
  EXPECT_EQ(read_command_answer(R"({"seconds": 1, "devices": [{"a": 1}, {"a": 1, "b": {"a": 2}}], "a": 3})").seconds,
            1);
  EXPECT_THAT(read_command_answer(R"({"seconds": 1, "seconds": 2)").failure, HasSubstr("wanted JSON"));
}

}  // namespace
}  // namespace emplace::evaluate::command_answer_test
