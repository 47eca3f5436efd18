// The main task: the learned placement is at least as good as every simple placement, and simulating it again gives the
// same time to the tick.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::quickstart_test {
namespace {

using nlohmann::json;

// How the learned placement compares with each simple one that is feasible.
enum class Wanted { faster, no_slower };

void expect_best_of_all(const std::string& graph, Wanted wanted) {
  const TemporaryFolder folder;
  const auto trained = emplace_run(
      3, {"train", "configs/recipes/quickstart.toml", "graph=" + graph, "run=" + (folder / "run"), "--json"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const json learned = json::parse(trained.out);
  EXPECT_EQ(learned["feasible"], true);

  const std::string problem = graph + "@k40x2";
  std::size_t feasible = 0;
  for (const char* method :
       {"single", "device:cpu:0", "device:gpu:0", "device:gpu:1", "round-robin", "contiguous", "greedy", "random"}) {
    const auto placed = emplace_run({"place", method, problem, "--json"});
    ASSERT_TRUE(placed.exit_code == 0 || placed.exit_code == 3) << placed.err;
    const json simple = json::parse(placed.out);
    if (simple["feasible"] != true) continue;
    ++feasible;
    const auto found = learned["makespan_ps"].get<std::int64_t>(), other = simple["makespan_ps"].get<std::int64_t>();
    if (wanted == Wanted::faster)
      EXPECT_LT(found, other) << method;
    else
      EXPECT_LE(found, other) << method;
  }
  EXPECT_GE(feasible, 1U);
  EXPECT_LE(learned["lower_bound_s"].get<double>(), learned["makespan_s"].get<double>());
  const auto again = emplace_run({"simulate", problem, folder / "run/best.placement.json", "--json"});
  EXPECT_EQ(json::parse(again.out)["makespan_ps"], learned["makespan_ps"]);
}

TEST(Quickstart, BeatsEverySimplePlacementOfAnNmtTrainingStep) {
  expect_best_of_all("zoo:nmt?layers=2&training=true", Wanted::faster);
}

TEST(Quickstart, IsNoWorseThanAnySimplePlacementOfAnImportedNetwork) {
  const TemporaryFolder folder;
  write_file(folder / "network.onnx", small_network(1, 24));  // the recipe wants 128 groups
  expect_best_of_all(folder / "network.onnx", Wanted::no_slower);
}

TEST(Quickstart, IsNoWorseThanAnySimplePlacementOfAnImportedResNet) {
  const std::string model = outside_file("models/onnx-light/light_resnet50.onnx");
  REQUIRE_OUTSIDE_FILE(model);
  expect_best_of_all(model, Wanted::no_slower);
}

TEST(Quickstart, HasTheExpertInItsTableAndSaysWhyAPlacerIsNot) {
  const TemporaryFolder folder;
  const auto trained = emplace_run({"train", "configs/recipes/quickstart.toml", "updates=1", "run=" + (folder / "run"),
                                    "graph=zoo:nmt?layers=2&sequence=6&training=true", "compare=[\"expert\", \"dp\"]"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, ::testing::ContainsRegex("\nexpert +[0-9.]+ ms +yes"));
  EXPECT_THAT(trained.out, ::testing::ContainsRegex("\ndp +- +no: .*pipeline"));
  EXPECT_THAT(trained.out, ::testing::HasSubstr(" (learned)"));
}

}  // namespace
}  // namespace emplace::test::quickstart_test
