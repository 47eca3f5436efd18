// Trainings that several cells of a table need.
#include "experiment/tables/reproduction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "emplace/source/load_problem.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::shared_trainings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Three rows of two models, with the smallest possible networks.
constexpr const char* of_shared_trainings = R"(
title = "Trainings on several rows"
source = "nobody"
methods = ["together", "drawn", "tuned"]
quick_seeds = 2
[method.together]
recipe = "gdp-pretrain"
together = true
options = { problems_per_update = 2, groups = 8, gdp.hidden = 8, gdp.heads = 2, ppo.samples_per_update = 4 }
quick.evaluations = 17
[pretraining.of-shared]
recipe = "gdp-pretrain"
options = { problems_per_update = 1, groups = 8, gdp.hidden = 8, gdp.heads = 2, ppo.samples_per_update = 4 }
quick.evaluations = 8
[method.drawn]
pretrained = "of-shared"
quick.evaluations = 5
[method.tuned]
recipe = "gdp-finetune"
quick_options = { ppo.epochs = 3 }
pretrained = "of-shared"
options = { groups = 8, gdp.hidden = 8, gdp.heads = 2, ppo.samples_per_update = 16, ppo.minibatches = 1 }
quick.evaluations = 17
[best]
quick.evaluations = 50
[[row]]
label = "RNNLM 3"
model = "rnnlm"
graph = "zoo:rnnlm?layers=1&sequence=3&hidden=64&vocabulary=500&training=true"
machine = "k40x2"
skip = ["drawn"]
[[row]]
label = "RNNLM 4"
model = "rnnlm"
graph = "zoo:rnnlm?layers=1&sequence=4&hidden=64&vocabulary=500&training=true"
machine = "k40x2"
[[row]]
label = "NMT"
model = "nmt"
graph = "zoo:nmt?layers=1&sequence=4&hidden=64&vocabulary=500&training=true"
machine = "k40x4"
skip = ["together"]
)";

class SharedTrainings : public ::testing::Test {
 protected:
  Reproduction make(const std::string& toml = of_shared_trainings) {
    return reproduce(parse_table(toml, "shared", "shared.toml"),
                     {.folder = folder_ / "out", .quick = true, .show_progress = false});
  }
  nlohmann::json kept(const std::string& id) const {
    return nlohmann::json::parse(read_file(folder_ / ("out/cells/" + id + ".json")));
  }
  // The recipe of the only run whose name begins with `id`.
  std::string recipe_of(const std::string& id) const {
    std::string text;
    for (const auto& run : std::filesystem::directory_iterator(folder_ / "out/runs"))
      if (run.path().filename().string().starts_with(id + "-")) text += read_file(run.path() / "config.toml");
    return text;
  }
  test::TemporaryFolder folder_;
};

TEST_F(SharedTrainings, AreMadeOnceASeedOnTheRowsThatTheyAreFor) {
  const Reproduction made = make();
  ASSERT_TRUE(made.finished());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "out/runs"), {}), 2 + 2 * 2 + 3 * 2)
      << "together; without either model; three rows tuned";
  const std::string together = recipe_of("rows.all.together.0"), without = recipe_of("rows.without.rnnlm.of-shared.1");
  EXPECT_THAT(together, ::testing::AllOf(HasSubstr("zoo:rnnlm?layers=1&sequence=3"), HasSubstr("sequence=4&"),
                                         ::testing::Not(HasSubstr("zoo:nmt")), HasSubstr("device_head = \"features\""),
                                         ::testing::Not(HasSubstr("held_out = ["))));
  EXPECT_THAT(without, ::testing::AllOf(HasSubstr("zoo:nmt"), ::testing::Not(HasSubstr("zoo:rnnlm"))));
  EXPECT_THAT(recipe_of("nmt.tuned.1"), HasSubstr("epochs = 3\n")) << "quick_options";
  EXPECT_THAT(recipe_of("nmt.tuned.1"), HasSubstr("runs/rows.without.nmt.of-shared.1-"));
  for (const RowFigures& row : made.rows)
    for (const CellFigures& cell : row.cells) {
      EXPECT_EQ(cell.status, CellStatus::ok) << row.label << " " << cell.method << ": " << cell.reason;
      EXPECT_EQ(cell.seeds, 2u);
    }
}

TEST_F(SharedTrainings, GiveCellsTheirPlacementsDrawsAndTheirShareOfTheSeconds) {
  const Reproduction made = make();
  const auto of = [](const nlohmann::json& cell) { return cell["result"]["time_ps"].get<Ticks>(); };
  const nlohmann::json first = kept("rnnlm-3.together.0"), second = kept("rnnlm-4.together.0");
  EXPECT_THAT(first["task"]["placement"].get<std::string>(), HasSubstr("/best.0.placement.json"));
  EXPECT_THAT(second["task"]["placement"].get<std::string>(), HasSubstr("/best.1.placement.json"));
  EXPECT_NE(of(first), of(second)) << "they are of two problems";
  EXPECT_EQ(kept("nmt.drawn.0")["result"]["evaluations"], 5);
  EXPECT_GE(made.rows[0].cells[0].seconds_spent, (kept("rows.all.together.0")["result"]["seconds"].get<double>() +
                                                  kept("rows.all.together.1")["result"]["seconds"].get<double>()) /
                                                     2);
}

TEST_F(SharedTrainings, AreLeftAsTheyAreUntilTheyChange) {
  make();
  const auto written = [&](const std::string& id) {
    return std::filesystem::last_write_time(folder_ / ("out/cells/" + id + ".json"));
  };
  const auto trained = written("rows.without.nmt.of-shared.0"), drawn = written("nmt.drawn.0"),
             together = written("rows.all.together.0");
  make();
  EXPECT_EQ(written("rows.without.nmt.of-shared.0"), trained);
  EXPECT_EQ(written("nmt.drawn.0"), drawn);
  std::string longer = of_shared_trainings;
  longer.replace(longer.find("quick.evaluations = 8"), 21, "quick.evaluations = 9");
  make(longer);
  EXPECT_NE(written("rows.without.nmt.of-shared.0"), trained);
  EXPECT_NE(written("nmt.drawn.0"), drawn) << "its policy is another";
  EXPECT_EQ(written("rows.all.together.0"), together);
}

TEST_F(SharedTrainings, ThatFailMakeTheCellsUnfitThatNeedThem) {
  std::string diverging = of_shared_trainings;
  diverging.insert(diverging.find("ppo.samples_per_update = 4 }\nquick.evaluations = 8"),
                   "ppo.learning_rate = 1000, checkpoint_every = 1, ");
  diverging.replace(diverging.find("quick.evaluations = 8\n"), 22, "quick.evaluations = 400\n");
  const Reproduction made = make(diverging);
  ASSERT_TRUE(made.finished());
  const CellFigures& drawn = made.rows[1].cells[1];
  EXPECT_EQ(drawn.status, CellStatus::unfit) << "its training did not finish";
  EXPECT_THAT(drawn.reason, HasSubstr("checkpoint"));
  EXPECT_EQ(made.rows[0].cells[0].status, CellStatus::ok) << "this one was trained otherwise";
}

}  // namespace
}  // namespace emplace::experiment::shared_trainings_test
