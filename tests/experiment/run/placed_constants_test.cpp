#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "emplace/source/load_problem.hpp"

namespace emplace::experiment::placed_constants_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string model = "tests/fuzz/seeds/openvino/conv11.xml";  // x and the constant w -> c -> the result r

Problem problem_with(const std::string& constants, bool training = false) {
  source::SourceOptions options;
  options.read.batch = 1;
  options.roofline.training = training;
  return source::load_problem(model + "?constants=" + constants + "@laptop", options).problem;
}

TEST(PlacedConstants, AreOpsWithoutTimeThatSendNothing) {
  const Problem folded = problem_with("folded"), placed = problem_with("placed");
  EXPECT_THAT(folded.op_names, ElementsAre("x", "c"));
  EXPECT_THAT(placed.op_names, ElementsAre("x", "w", "c", "r"));
  for (std::size_t d = 0; d < placed.device_count(); ++d) {
    const DeviceId device{d};
    EXPECT_EQ(placed.time(OpId{2}, device), folded.time(OpId{1}, device));
    EXPECT_TRUE(placed.zero_cost[1 * placed.device_count() + d]);
    EXPECT_TRUE(placed.zero_cost[3 * placed.device_count() + d]);
  }
  Bytes sent = 0;
  for (std::size_t t = 0; t < placed.tensor_count(); ++t)
    if (placed.producer[t] == OpId{1}) sent += placed.tensor_bytes[t];
  EXPECT_EQ(sent, 0);
}

TEST(PlacedConstants, AreForInferenceAndNamedByTheirTwoWords) {
  const auto complaint = [](const std::string& constants, bool training) -> std::string {
    try {
      problem_with(constants, training);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no complaint";
  };
  EXPECT_THAT(complaint("placed", true), HasSubstr("constants=placed is for inference"));
  EXPECT_THAT(complaint("kept", false), HasSubstr("constants is 'kept', wanted folded or placed"));
}

}  // namespace
}  // namespace emplace::experiment::placed_constants_test
