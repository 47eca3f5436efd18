// Reading of table files, and the messages for wrong ones.
#include "experiment/tables/published_table.hpp"

#include "experiment/recipe/shipped_recipes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace::experiment::published_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* small = R"(
title = "Two methods"
source = "nobody"
methods = ["single", "post"]
seeds = 3
quick_seeds = 2
[calibration]
cpu = "single"
[method.post]
label = "learned"
recipe = "quickstart"
quick_seeds = 1
budget.evaluations = 100
quick.evaluations = 10
[[row]]
model = "rnnlm"
graph = "zoo:rnnlm?layers=1"
machine = "laptop"
unconfirmed = ["post"]
published = { single = 2.5, post = "OOM" }
placers.post = "greedy"
keys = { groups = 7 }
)";

// The message about `small` with `was` replaced by `is`.
std::string complaint(const std::string& was, const std::string& is) {
  std::string text = small;
  const std::size_t at = text.find(was);
  EXPECT_NE(at, std::string::npos) << was;
  text.replace(at, was.size(), is);
  try {
    parse_table(text, "small", "small.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(PublishedTable, HoldsNumbersAndHowEachIsMade) {
  const PublishedTable table = parse_table(small, "small", "small.toml");
  ASSERT_EQ(table.methods.size(), 2u);
  const TableMethod &single = table.methods[0], &post = table.methods[1];
  EXPECT_EQ(single.placer, "single") << "a method without a recipe is the placer of its name";
  EXPECT_EQ(single.label, "single");
  EXPECT_EQ(single.seeds, 3) << "the table's";
  EXPECT_EQ(post.label, "learned");
  EXPECT_EQ(post.placer, "");
  EXPECT_EQ(post.quick_seeds, 1) << "its own";
  EXPECT_EQ(post.full.evaluations, 100u);
  EXPECT_EQ(post.quick.evaluations, 10u);
  ASSERT_EQ(table.rows.size(), 1u);
  const TableRow& row = table.rows[0];
  EXPECT_EQ(row.label, "rnnlm") << "the model's, where it has none of its own";
  EXPECT_EQ(row.published.at("single").seconds, 2.5);
  EXPECT_TRUE(row.published.at("single").confirmed);
  EXPECT_EQ(row.published.at("post").seconds, std::nullopt) << "OOM";
  EXPECT_FALSE(row.published.at("post").confirmed);
  EXPECT_EQ(row.stands_for.at("post"), "greedy");
  EXPECT_EQ(row.keys.to_toml(), "groups = 7\n");
  EXPECT_EQ(table.calibration.at("cpu"), "single");
}

TEST(PublishedTable, TakesGraphsFromTheFolderThatTheUserNames) {
  std::string text = small;
  const std::string zoo = "zoo:rnnlm?layers=1";
  text.replace(text.find(zoo), zoo.size(), "$FILES/sub/rnnlm.xml?constants=placed");
  const PublishedTable table = parse_table(text, "small", "small.toml");
  ASSERT_EQ(table.files().size(), 1U);
  EXPECT_EQ(table.files().front(), std::pair(table.rows[0].label, std::string("sub/rnnlm.xml")));
  EXPECT_EQ(table.with_files("here").rows[0].graph, "here/sub/rnnlm.xml?constants=placed");
  EXPECT_EQ(parse_table(small, "small", "small.toml").with_files("here").rows[0].graph, zoo);
}

TEST(PublishedTable, IsRefusedWithPlaceFoundAndWanted) {
  EXPECT_EQ(complaint("single = 2.5", "sinlge = 2.5"),
            "small.toml:20: unknown method 'sinlge' (did you mean 'single'?)");
  EXPECT_THAT(complaint("single = 2.5", "single = 0"), HasSubstr("single is 0, wanted seconds above 0 or \"OOM\""));
  EXPECT_THAT(complaint("\"OOM\"", "\"oom\""), HasSubstr("post is 'oom', wanted seconds or \"OOM\""));
  EXPECT_THAT(complaint("cpu = \"single\"", "cpu = \"none\""), HasSubstr("unknown method 'none'"));
  EXPECT_THAT(complaint("[method.post]", "[method.pots]"), HasSubstr("unknown key 'pots' (did you mean 'post'?)"));
  EXPECT_THAT(complaint("label = \"learned\"", "placer = \"greedy\""), HasSubstr("both a placer and a recipe"));
  EXPECT_THAT(complaint("budget.evaluations = 100", "budget.evaluations = 0"),
              HasSubstr("evaluations is 0, wanted more"));
  EXPECT_THAT(complaint("budget.evaluations = 100", "budget.steps = 1"), HasSubstr("unknown key 'steps'"));
  EXPECT_THAT(complaint("seeds = 3", "seeds = 0"), HasSubstr("small.toml:5: seeds is 0, wanted 1 to 1000"));
  EXPECT_THAT(complaint("model = \"rnnlm\"", "seeds_of = { pots = 2 }\nmodel = \"rnnlm\""),
              HasSubstr("unknown method 'pots' (did you mean 'post'?)"));
  EXPECT_THAT(complaint("\"single\", \"post\"", "\"single\", \"single\""), HasSubstr("'single' is named twice"));
  EXPECT_THAT(complaint("\"single\", \"post\"", "\"best\", \"single\", \"post\""), HasSubstr("has the column 'best'"));
  EXPECT_THAT(complaint("model = \"rnnlm\"", "model = \"?\""), HasSubstr("the label '?' is empty or not unique"));
  EXPECT_THAT(complaint("machine = \"laptop\"", ""), HasSubstr("machine"));
  EXPECT_THAT(complaint("machine = \"laptop\"", "problem = \"p.json\""), HasSubstr("a machine cannot be calibrated"));
  EXPECT_THAT(complaint("calibration]", "calibration2]"), HasSubstr("unknown key 'calibration2'"));
}

TEST(PublishedTable, HasPlacersThatThereAreAndNamesThatTellApart) {
  EXPECT_THAT(complaint("[\"single\", \"post\"]", "[\"sngle\", \"single\", \"post\"]"),
              HasSubstr("small.toml:4: unknown placer 'sngle' (did you mean 'single'?)"));
  EXPECT_THAT(complaint("placers.post = \"greedy\"", "placers.post = \"gredy\""), HasSubstr("'greedy'"));
  EXPECT_THAT(complaint("[\"single\", \"post\"]",
                        "[\"single\", \"post\", \"po-st\", \"po:st\"]\n[method.\"po-st\"]\nplacer = "
                        "\"single\"\n[method.\"po:st\"]\nplacer = \"single\""),
              HasSubstr("is empty or not unique"));
}

TEST(PublishedTable, TrainsOnSeveralRowsOnlyWhatCanBe) {
  EXPECT_THAT(complaint("label = \"learned\"\nrecipe = \"quickstart\"", "together = true"),
              HasSubstr("small.toml:10: method 'post' is trained on all rows together: it needs a recipe"));
  EXPECT_THAT(complaint("label = \"learned\"\nrecipe = \"quickstart\"", "quick_options = { groups = 8 }"),
              HasSubstr("method 'post' has no recipe, whose keys these could override"));
  EXPECT_THAT(complaint("label = \"learned\"", "together = true\npretrained = \"tuned\""),
              HasSubstr("and cannot be pretrained"));
  EXPECT_THAT(complaint("label = \"learned\"", "pretrained = \"tuned\""),
              HasSubstr("method 'post' is pretrained by 'tuned', and there is no [pretraining.tuned]"));
  EXPECT_THAT(complaint("label = \"learned\"\nrecipe = \"quickstart\"", "pretrained = \"tuned\"\nplacer = \"single\""),
              HasSubstr("both a placer and a pretrained policy"));
  EXPECT_THAT(complaint("label = \"learned\"\nrecipe = \"quickstart\"", "pretrained = \"tuned\"\noptions = { a = 1 }"),
              HasSubstr("draws of a pretrained policy have no options"));
  EXPECT_THAT(
      complaint("[method.post]", "[pretraining.tuned]\nrecipe = \"gdp\"\n[method.post]\npretrained = \"tuned\""),
      HasSubstr("on the rows of other models, and all are of 'rnnlm'"));
  EXPECT_THAT(complaint("[method.post]", "[pretraining.\"A b\"]\nrecipe = \"gdp\"\n[method.post]"),
              HasSubstr("wanted lower-case letters, digits and hyphens"));
  EXPECT_THAT(complaint("[method.post]", "[pretraining.tuned]\nrecipe = \"gdp\"\nseeds = 1\n[method.post]"),
              HasSubstr("unknown key 'seeds'"));
}

TEST(PublishedTable, HasAMethodOnlyInTheRowsThatItNames) {
  const std::string toml = R"(title = "t"
source = "s"
methods = ["single", "scotch"]
[method.scotch]
rows = ["b"]
[[row]]
label = "a"
model = "rnnlm"
graph = "zoo:rnnlm"
machine = "k40x2"
[[row]]
label = "b"
model = "rnnlm"
graph = "zoo:rnnlm"
machine = "k40x2"
)";
  const PublishedTable table = parse_table(toml, "t", "t.toml");
  EXPECT_THAT(table.row("a")->skip, ElementsAre("scotch"));
  EXPECT_THAT(table.row("b")->skip, IsEmpty());
  std::string wrong = toml;
  wrong.replace(wrong.find("\"b\"]"), 4, "\"B\"]");
  EXPECT_THAT([&] { parse_table(wrong, "t", "t.toml"); },
              ::testing::ThrowsMessage<InputError>(HasSubstr("method 'scotch' is for row 'B', which does not exist")));
}

TEST(PublishedTable, EveryTableOfTheProgramCanBeReadAndNamesMethodsThatThereAre) {
  const std::vector<EntryInfo> list = tables();
  ASSERT_FALSE(list.empty());
  for (const EntryInfo& entry : list) {
    const PublishedTable table = load_table(entry.name);
    EXPECT_FALSE(table.title.empty() || table.source.empty()) << entry.name;
    for (const TableMethod& method : table.methods) {
      if (!method.recipe.empty()) {
        EXPECT_NO_THROW(read_recipe(method.recipe, "test")) << entry.name;
        const bool has_own_budget = method.recipe.ends_with("-published") || method.recipe == "hsdag-rnn";
        EXPECT_TRUE(has_own_budget || method.full.evaluations || method.full.seconds)
            << entry.name << ' ' << method.name;
        EXPECT_TRUE(method.quick.evaluations || method.quick.seconds) << entry.name << ' ' << method.name;
      }
      EXPECT_TRUE(method.pretrained.empty() || table.pretrainings.at(method.pretrained).quick.evaluations)
          << entry.name;
    }
  }
}

// So that no fine-tuned cell is slower than the zero-shot one of its row and seed.
TEST(PublishedTable, OfGdpFineTunesFromTheDrawsOfZeroShotWithAsManyPlacementsAsWithoutPreTraining) {
  const PublishedTable table = load_table("gdp");
  const auto method = [&](const std::string& name) -> const TableMethod& {
    return *std::ranges::find(table.methods, name, &TableMethod::name);
  };
  const TableMethod &zero_shot = method("gdp:tuned-zero-shot"), &fresh = method("gdp:tuned-fresh");
  for (const char* name : {"gdp:tuned-fine-tuned", "gdp:tuned-fine-tuned-no-superposition"}) {
    const TableMethod& fine_tuned = method(name);
    EXPECT_EQ(*fine_tuned.full.evaluations, *fresh.full.evaluations + 1) << name;
    const std::int64_t draws = fine_tuned.options.whole("init_draws", 0);
    EXPECT_GE(draws + 1, static_cast<std::int64_t>(*zero_shot.full.evaluations)) << name;
    EXPECT_EQ(1 + draws + 50 * fine_tuned.options.whole("ppo.samples_per_update", 0),
              static_cast<std::int64_t>(*fine_tuned.full.evaluations))
        << name << ": 50 updates";
  }
}

TEST(PublishedTable, OfAnotherNameIsNotGuessed) {
  try {
    load_table("hierachical");
    FAIL() << "there is no such table";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown table 'hierachical': neither a name nor a TOML file (did you mean "
                                        "'hierarchical'?)"));
  }
}

TEST(PublishedTable, LabelsBecomeFileNames) {
  EXPECT_EQ(as_file_name("NMT (2-layer)"), "nmt-2-layer");
  EXPECT_EQ(as_file_name("  Inception-V3 "), "inception-v3");
  EXPECT_EQ(as_file_name("device:gpu:0"), "device-gpu-0");
  EXPECT_EQ(as_file_name("../.."), "");
}

}  // namespace
}  // namespace emplace::experiment::published_table_test
