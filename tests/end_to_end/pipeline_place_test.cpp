// Exact placers of the objective `pipeline` from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/partitioning.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::pipeline_place_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class PipelinePlace : public ::testing::Test {
 protected:
  Finished place(const Partitioning& toy, std::vector<std::string> arguments) {
    write_file(folder_ / "toy.json", toy.text());
    arguments.insert(arguments.begin(), "place");
    arguments.insert(arguments.begin() + 2, folder_ / "toy.json");
    return emplace_run(std::move(arguments));
  }
  TemporaryFolder folder_;
};

TEST_F(PipelinePlace, GivesLoadsAndSaysWhatTheyAre) {
  // Chain 4 6 4, nodes 1 and 3 apart: contiguous 4 + 6 + 1, any split 4 + 4 + 1 + 1.
  Partitioning chain = chain_of({4, 6, 4});
  chain.accelerators = 2;
  const auto contiguous = place(chain, {"dp", "--objective", "pipeline", "--json"});
  ASSERT_EQ(contiguous.exit_code, 0) << contiguous.err;
  EXPECT_NEAR(json::parse(contiguous.out)["load_s"].get<double>(), 0.011, 1e-9);
  EXPECT_EQ(json::parse(contiguous.out)["proved_optimal"], false);
  EXPECT_THAT(contiguous.err, HasSubstr("no split into pieces that follow one another has a smaller load"));
  const auto any = place(chain, {"milp", "--objective", "pipeline", "contiguous=no", "--json"});
  ASSERT_EQ(any.exit_code, 0) << any.err;
  EXPECT_NEAR(json::parse(any.out)["load_s"].get<double>(), 0.010, 1e-9);
  EXPECT_EQ(json::parse(any.out)["proved_optimal"], true);
}

TEST_F(PipelinePlace, RefusesTheObjectiveStep) {
  for (const char* method : {"dp", "dpl"}) {
    const auto done = place(chain_of({1, 1}), {method});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("needs --objective pipeline, found step"));
  }
}

TEST_F(PipelinePlace, RefusesTooManyIdeals) {
  Partitioning free;
  free.nodes.assign(40, {.accelerator = 1, .cpu = 1});
  const auto done = place(free, {"dp", "--objective", "pipeline"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("have more than 100000 ideals"));
  // A portfolio continues without it.
  const auto best = place(free, {"best", "--objective", "pipeline", "--evaluations", "500", "--json"});
  EXPECT_EQ(best.exit_code, 0) << best.err;
  EXPECT_EQ(json::parse(best.out)["feasible"], true);
}

TEST_F(PipelinePlace, EndsWithThreeWhereNothingFits) {
  Partitioning pair = chain_of({3, 3});
  for (PartitionNode& node : pair.nodes) node.size = 6;
  pair.memory = 10;
  for (const char* method : {"dp", "dpl", "milp"}) {
    const auto done = place(pair, {method, "--objective", "pipeline", "--json"});
    EXPECT_EQ(done.exit_code, 3) << done.err;
    EXPECT_EQ(json::parse(done.out)["feasible"], false);
    EXPECT_THAT(done.err, HasSubstr("this is everything on the best device"));
  }
}

}  // namespace
}  // namespace emplace::test::pipeline_place_test
