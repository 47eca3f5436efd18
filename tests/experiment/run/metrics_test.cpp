#include "experiment/run/metrics.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::metrics_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;

class MetricsTest : public ::testing::Test {
 protected:
  Metrics read(const std::string& text, std::size_t points = 100) {
    write_file(path_, text);
    return read_metrics(path_, points);
  }
  std::string refusal(const std::string& text) {
    try {
      (void)read(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "metrics.csv";
};

TEST_F(MetricsTest, AreTheColumnsOfTheFile) {
  const Metrics metrics = read("update,evaluations,kl\n1,10,0.5\n2,20,\n");
  EXPECT_EQ(metrics.updates, 2U);
  EXPECT_EQ(metrics.updates_per_point, 1U);
  EXPECT_THAT(*metrics.find("evaluations"), ElementsAre(10, 20));
  EXPECT_THAT(*metrics.find("kl"), ElementsAre(0.5, IsNan()));
  EXPECT_EQ(metrics.find("entropy"), nullptr);
}

TEST_F(MetricsTest, OfManyUpdatesTakeMeansAndOfWhatOnlyGrowsOrFallsTheLast) {
  // Seven rows in at most three points: four rows per point make two points, two rows per point would make four.
  const Metrics metrics = read(
      "update,evaluations,best_step_time,kl,wall_seconds\n"
      "1,10,,1,0.5\n2,20,9,2,1\n3,30,8,,1.5\n4,40,7,6,2\n5,50,7,4,2.5\n6,60,6,4,3\n7,70,,7,3.5\n",
      3);
  EXPECT_EQ(metrics.updates, 7U);
  EXPECT_EQ(metrics.updates_per_point, 4U);
  EXPECT_THAT(*metrics.find("update"), ElementsAre(4, 7));
  EXPECT_THAT(*metrics.find("best_step_time"), ElementsAre(7, 6));
  EXPECT_THAT(*metrics.find("kl"), ElementsAre(3, 5));  // (1 + 2 + 6) / 3 and (4 + 4 + 7) / 3
  EXPECT_THAT(*metrics.find("wall_seconds"), ElementsAre(2, 3.5));
}

TEST_F(MetricsTest, NeverHaveMorePointsThanAskedForAndKeepTheirMean) {
  for (const std::size_t most : {2U, 3U, 7U, 10U})
    for (std::size_t rows = 1; rows < 60; ++rows) {
      std::string text = "update,evaluations,x\n";
      for (std::size_t i = 1; i <= rows; ++i) text += fmt::format("{},{},{}\n", i, i, i);
      const Metrics metrics = read(text, most);
      ASSERT_LE(metrics.points(), most);
      ASSERT_GE(2 * metrics.points() + 1, std::min(rows, most));
      EXPECT_EQ(metrics.find("update")->back(), static_cast<double>(rows));
      double sum = 0;
      for (std::size_t i = 0; i < metrics.points(); ++i) {
        const std::uint64_t begin = i * metrics.updates_per_point;
        sum += (*metrics.find("x"))[i] *
               static_cast<double>(std::min<std::uint64_t>(rows - begin, metrics.updates_per_point));
      }
      EXPECT_NEAR(sum, static_cast<double>(rows * (rows + 1) / 2), 1e-9);
    }
}

TEST_F(MetricsTest, LeaveOutALineThatIsJustBeingWritten) {
  EXPECT_EQ(read("update,evaluations\n1,10\n2,2").updates, 1U);
  EXPECT_EQ(read("update,evalu").points(), 0U);
  EXPECT_EQ(read("").points(), 0U);
  EXPECT_EQ(read_metrics(folder_ / "none.csv", 10).points(), 0U);
}

TEST_F(MetricsTest, DamageIsRefusedByLine) {
  EXPECT_THAT(refusal("update,evaluations\n1,10\n2\n"),
              ::testing::AllOf(HasSubstr("metrics.csv:3"), HasSubstr("1 cells"), HasSubstr("wanted 2")));
  EXPECT_THAT(refusal("update,evaluations\n1,x\n"),
              ::testing::AllOf(HasSubstr("metrics.csv:2"), HasSubstr("'evaluations'"), HasSubstr("'x'")));
  EXPECT_THAT(refusal("update,evaluations\n1,inf\n"), HasSubstr("metrics.csv:2"));
  EXPECT_THAT(refusal(std::string("update,evaluations\n\0,1\n", 23)), HasSubstr("metrics.csv:2"));
  EXPECT_THAT(refusal("a,b\n"), ::testing::AllOf(HasSubstr("metrics.csv:1"), HasSubstr("'update'")));
  EXPECT_THAT(refusal("update,evaluations,kl,kl\n"), HasSubstr("twice"));
  EXPECT_THAT(refusal("update,evaluations\n" + std::string(1'000'000, '1') + "\n"),
              HasSubstr("metrics.csv:2: is longer"));
  std::string wide = "update,evaluations";
  for (int i = 2; i < 1000; ++i) wide += fmt::format(",{}", i);
  EXPECT_EQ(refusal(wide + "\n"), "accepted");
  EXPECT_THAT(refusal(wide + ",x\n"), ::testing::AllOf(HasSubstr("metrics.csv:1"), HasSubstr("1001 columns")));
  make_folder(folder_ / "folder.csv");
  EXPECT_THROW((void)read_metrics(folder_ / "folder.csv", 10), InputError);
}

}  // namespace
}  // namespace emplace::experiment::metrics_test
