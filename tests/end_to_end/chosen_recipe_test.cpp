// `emplace train` with a recipe, a problem, both, or keys alone; without a recipe the recommended one is chosen.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::chosen_recipe_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ChosenRecipe : public ::testing::Test {
 protected:
  ChosenRecipe() { write_file(problem_, example_problem); }
  // The configuration of the run.
  std::string config_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    arguments.insert(arguments.end(), {"evaluations=64", "compare=[]", "run=" + run_});
    const Finished done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return file_exists(run_ + "/config.toml") ? read_file(run_ + "/config.toml") : "";
  }
  // What is said when such a training is refused.
  static std::string refusal_of(const std::vector<std::string>& arguments) {
    const Finished done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 2) << done.err;
    return done.err;
  }
  TemporaryFolder folder_;
  const std::string problem_ = folder_ / "problem.json", run_ = folder_ / "run";
};

TEST_F(ChosenRecipe, IsTheRecommendedOneForAProblemAndStopsAtTheBound) {
  EXPECT_THAT(config_of({problem_}), AllOf(HasSubstr("policy = \"gdp\""), HasSubstr("stop_at_bound = true")));
}

TEST_F(ChosenRecipe, IsTheRecommendedOneForKeysAlone) {
  EXPECT_THAT(config_of({"problem=" + problem_}), AllOf(HasSubstr("policy = \"gdp\""), HasSubstr(problem_)));
}

TEST_F(ChosenRecipe, TrainsOnTheProblemNamedAfterIt) {
  const std::string config = config_of({"post", problem_, "groups=4"});
  EXPECT_THAT(config, AllOf(HasSubstr("policy = \"post\""), HasSubstr("problem = \"" + problem_ + '"')));
  EXPECT_THAT(config, HasSubstr("stop_at_bound = false")) << "only a recommended recipe ends there";
}

TEST_F(ChosenRecipe, TakesTheProblemAfterKeysAndAModelWithItsMachineInTwoWords) {
  EXPECT_THAT(config_of({"seed=3", "configs/recipes/quickstart.toml", "zoo:rnnlm?layers=1&sequence=2", "k40x2"}),
              AllOf(HasSubstr("problem = \"zoo:rnnlm?layers=1&sequence=2@k40x2\""), HasSubstr("seed = 3")));
}

TEST_F(ChosenRecipe, TakesAMachineOfAFile) {
  EXPECT_THAT(config_of({"post", "zoo:rnnlm?layers=1&sequence=2@configs/machines/laptop.toml"}),
              HasSubstr("problem = \"zoo:rnnlm?layers=1&sequence=2@"));
}

TEST_F(ChosenRecipe, TakesAModelOfAFileWithItsMachineInOneWordOrTwo) {
  const std::string model = folder_ / "model.pbtxt", type = R"(attr { key: "dtype" value { type: DT_FLOAT } } )";
  write_file(model, R"(node { name: "x" op: "Placeholder" )" + type +
                        R"(attr { key: "shape" value { shape { dim { size: 4 } } } } } )"
                        R"(node { name: "r" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } })");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"post", model + "@k40x2"}, {"post", model, "k40x2"}}) {
    EXPECT_THAT(config_of(words), HasSubstr("problem = \"" + model + "@k40x2\""));
    std::filesystem::remove_all(run_);
  }
}

TEST_F(ChosenRecipe, HasOneProblem) {
  for (const char* key : {"problem=zoo:nmt@k40x2", "problems=[\"a\"]", "graph=zoo:nmt", "machine=k40x2"})
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"train", "post", problem_, key}, {"train", key, problem_}})
      EXPECT_THAT(refusal_of(words), AllOf(HasSubstr("the problem is given twice, as '" + problem_ + "' and as '"),
                                           HasSubstr(std::string(key) + "'\n")));
  EXPECT_THAT(refusal_of({"train", "post", problem_, "zoo:nmt@k40x2"}),
              HasSubstr("the problem is given twice, as '" + problem_ + "' and as 'zoo:nmt@k40x2'"));
  EXPECT_THAT(refusal_of({"train", problem_, "post"}), HasSubstr("a recipe comes before its problem"));
}

TEST_F(ChosenRecipe, IsNotFollowedByAWordThatIsNeitherKeyNorProblem) {
  EXPECT_THAT(refusal_of({"train", "post", "missing.json"}),
              HasSubstr("'missing.json' is neither KEY=VALUE nor a PROBLEM (a file, or MODEL@MACHINE)"));
  EXPECT_THAT(refusal_of({"train", "post", "zoo:nmt"}), HasSubstr("a zoo model needs a machine"));
}

TEST_F(ChosenRecipe, IsToldOfAZooModelWithoutItsPrefix) {
  EXPECT_THAT(refusal_of({"train", "post", "nmt?layers=2@k40x2"}),
              HasSubstr("nmt?layers=2: there is no such file; the zoo's model is zoo:nmt?layers=2"));
}

TEST_F(ChosenRecipe, DoesNotStopAtABoundWhereTimesAreMeasured) {
  write_file(folder_ / "answer", "read job; echo '{\"seconds\": 1}'");
  EXPECT_THAT(config_of({problem_, "evaluator=command", "command.run=[\"sh\", \"" + (folder_ / "answer") + "\"]"}),
              HasSubstr("stop_at_bound = false"));
}

TEST_F(ChosenRecipe, IsAFileOfAnyNameThatIsNotJson) {
  write_file(folder_ / "recipe.txt", "problem = \"" + problem_ + "\"\npolicy = \"post\"\nlearner = \"post\"\n");
  EXPECT_THAT(config_of({folder_ / "recipe.txt"}), HasSubstr("policy = \"post\""));
}

TEST_F(ChosenRecipe, IsNotAPublishedWorkloadWhateverItsFormat) {
  write_file(folder_ / "tasks.txt", "#tasks\nnot a number\n");
  EXPECT_THAT(refusal_of({"train", folder_ / "tasks.txt"}), HasSubstr("tasks.txt:2: wanted a line that begins"));
  write_file(folder_ / "graphs.json", R"([{"name": "one", "weights": [1, 2], "preds": [[], [0]]}])");
  EXPECT_THAT(refusal_of({"train", folder_ / "graphs.json"}), HasSubstr("add ?processors=P"));
}

TEST_F(ChosenRecipe, TakesAKeyWithACapitalLetterForAKey) {
  EXPECT_THAT(refusal_of({"train", problem_, "Seed=3"}), HasSubstr("unknown key 'Seed' (did you mean 'seed'?)"));
}

TEST_F(ChosenRecipe, NeedsSomethingToPlace) {
  expect_refused({"train", "seconds=5"}, HasSubstr("nothing to place"));
  expect_refused({"train", "--resume", run_, "post"}, HasSubstr("found 'post' too"));
  expect_refused({"train", "--resume", run_, problem_}, HasSubstr("found '" + problem_ + "' too"));
}

}  // namespace
}  // namespace emplace::test::chosen_recipe_test
