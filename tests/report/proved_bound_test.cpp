// The bound of a run's problem: that of `emplace bound`, kept in a file that is not trusted.
#include "report/proved_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::report::proved_bound_test {
namespace {

using nlohmann::json;

class ProvedBound : public ::testing::Test {
 protected:
  [[nodiscard]] search::LowerBound bound(double seconds = 5) const {
    return proved_bound(problem_, {}, seconds, file_);
  }
  void replace_in_file(const char* key, const json& value) const {
    json kept = json::parse(read_file(file_));
    kept[key] = value;
    write_file(file_, kept.dump());
  }
  // Three ops of 10 ms on two devices: their load is 15 ms each, but one device has to run two.
  Problem problem_ = test::tiny(test::plain_devices(2), {{"a", {10, 10}}, {"b", {10, 10}}, {"c", {10, 10}}}, {});
  test::TemporaryFolder folder_;
  const std::string file_ = folder_ / "bound.json";
};

TEST_F(ProvedBound, IsTheBestOfAllMethods) {
  EXPECT_LT(search::lower_bound(problem_).ticks, 20 * test::ms);
  EXPECT_EQ(bound().ticks, 20 * test::ms);
  EXPECT_EQ(proved_bound(problem_, {}, 5, "").ticks, 20 * test::ms) << "also without a file";
}

TEST_F(ProvedBound, IsReadFromTheFileThatKeepsIt) {
  (void)bound();
  replace_in_file("lower_bound_ps", 19 * test::ms);
  EXPECT_EQ(bound().ticks, 19 * test::ms);
  EXPECT_EQ(bound(1).ticks, 19 * test::ms) << "a smaller budget proves no more";
  EXPECT_EQ(bound(6).ticks, 20 * test::ms) << "a larger one might";
}

TEST_F(ProvedBound, OfAnotherProblemIsFoundAgain) {
  (void)bound();
  for (Ticks& time : problem_.op_time) time *= 2;
  EXPECT_EQ(bound().ticks, 40 * test::ms);
}

TEST_F(ProvedBound, IsFoundAgainIfTheFileIsDamaged) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string(1500, '['), std::string(1'000'000, 'x')}) {
    write_file(file_, text);
    EXPECT_EQ(bound().ticks, 20 * test::ms);
  }
  for (const json& value : {json(-1), json("x"), json(), json(1e300)}) {
    (void)bound();
    replace_in_file("lower_bound_ps", value);
    EXPECT_EQ(bound().ticks, 20 * test::ms) << value;
  }
  (void)bound();
  replace_in_file("method", 7);
  EXPECT_EQ(bound().ticks, 20 * test::ms);
}

TEST_F(ProvedBound, NeedsNoFileThatCanBeWritten) {
  EXPECT_EQ(proved_bound(problem_, {}, 5, folder_ / "missing/bound.json").ticks, 20 * test::ms);
}

}  // namespace
}  // namespace emplace::report::proved_bound_test
