// The placer `learned` with the policy that ships.
#include "experiment/learned/learned_placer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "emplace/base/error.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/learned/shipped_policy.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "experiment/run/checkpoint.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::experiment::learned_placer_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

// Sets the variable for the life of this object.
class NamedPolicy {
 public:
  explicit NamedPolicy(const std::string& folder) { ::setenv(policy_variable, folder.c_str(), 1); }
  ~NamedPolicy() { ::unsetenv(policy_variable); }
  NamedPolicy(const NamedPolicy&) = delete;
  NamedPolicy& operator=(const NamedPolicy&) = delete;
};

search::PlacerResult place(const std::string& method, const Problem& problem, std::uint64_t evaluations,
                           Schedule schedule = Schedule::fifo, const std::string& options = "") {
  register_learned_placer();
  const Problem* const pointers[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(pointers, schedule);
  search::PlacerRequest request;
  request.problem = &problem;
  request.schedule = schedule;
  request.seed = 1;
  request.evaluations = evaluations;
  request.evaluator = evaluator.get();
  return search::place_with(method, request, ConfigTable::parse_toml(options, "test"));
}

Problem zoo(const std::string& source) { return source::load_problem(source, {}).problem; }

TEST(ShippedPolicy, IsInTheSourceTreeAndSmallEnoughToShip) {
  const ShippedPolicy shipped = shipped_policy();
  ASSERT_TRUE(shipped.policy) << shipped.why_not;
  EXPECT_THAT(shipped.policy->run(), ::testing::EndsWith("configs/policies/learned"));
  EXPECT_LT(std::filesystem::file_size(shipped.policy->run() + "/checkpoint.h5"), 8U << 20);
}

// So that `train` with the recipe makes what ships.
TEST(ShippedPolicy, WasMadeByTheRecipeOfTheSameName) {
  const ShippedPolicy shipped = shipped_policy();
  ASSERT_TRUE(shipped.policy);
  const Recipe recipe = make_recipe(read_recipe("learned", "test"));
  const RecipeOptions &made = shipped.policy->recipe().options, &wanted = recipe.options;
  EXPECT_EQ(shipped.policy->recipe().sources(), recipe.sources());
  EXPECT_EQ(made.policy, wanted.policy);
  EXPECT_EQ(made.learner, wanted.learner);
  EXPECT_EQ(made.groups, wanted.groups);
  EXPECT_EQ(made.updates, wanted.updates);
  EXPECT_EQ(made.problems_per_update, wanted.problems_per_update);
}

TEST(ShippedPolicy, OfAnotherVersionIsRefusedWithItsPath) {
  // Without one of its arrays: as if the program's network had changed.
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "other_version";
  std::filesystem::create_directories(folder);
  Checkpoint checkpoint = load_checkpoint(shipped_policy().policy->run() + "/checkpoint.h5");
  checkpoint.arrays.erase("policy/pair/bias");
  save_checkpoint(folder.string(), checkpoint);
  const NamedPolicy named(folder.string());
  EXPECT_FALSE(shipped_policy().policy);
  EXPECT_THAT(shipped_policy().why_not,
              ::testing::AllOf(HasSubstr(folder.string()), HasSubstr("policy/pair/bias is missing")));
}

TEST(Learned, IsNeverWorseThanTheQuickPlacersWithinItsBudget) {
  for (const char* source : {"zoo:rnnlm?layers=1&sequence=4&training=true@drawn-901", "zoo:resnet-50@drawn-902"}) {
    const Problem problem = zoo(source);
    const search::PlacerResult found = place("learned", problem, 2000);
    EXPECT_LE(found.evaluations, 2000U);
    EXPECT_TRUE(found.outcome.feasible());
    for (const char* quick : {"single", "heft", "contiguous", "peft", "greedy"})
      EXPECT_FALSE(better(place(quick, problem, 100).outcome, found.outcome)) << source << ": " << quick;
  }
}

// A descent through all units of this graph would take more than these evaluations.
TEST(Learned, TakesPartInBestAlsoWhereOnlyOneLineFitsTheEvaluations) {
  const Problem problem = zoo("zoo:rnnlm?layers=2&training=true@drawn-905");
  for (const char* method : {"best", "learned"}) {
    const search::PlacerResult found = place(method, problem, 3000);
    EXPECT_TRUE(std::ranges::any_of(found.steps, [](const auto& step) { return step.method == "learned"; })) << method;
    EXPECT_LE(found.evaluations, 3000U);
  }
  const search::PlacerResult without = place("best", problem, 3000, Schedule::fifo, "without = 'learned'");
  EXPECT_TRUE(std::ranges::none_of(without.steps, [](const auto& step) { return step.method == "learned"; }));
}

TEST(Learned, GivesTheSameBitsTwiceAlsoWithFineTuningBetweenRounds) {
  const Problem problem = zoo("zoo:rnnlm?layers=2&sequence=4@drawn-903");
  for (const char* options : {"", "rounds = 3\nfit_steps = 3"}) {
    const search::PlacerResult one = place("learned", problem, 3000, Schedule::fifo, options);
    const search::PlacerResult two = place("learned", problem, 3000, Schedule::fifo, options);
    EXPECT_EQ(one.placement, two.placement) << options;
    EXPECT_EQ(one.evaluations, two.evaluations) << options;
  }
}

TEST(Learned, PlacesGraphsOfOneOpWithoutEdgesAndWithoutAChoice) {
  const Problem one = tiny(plain_devices(2), {{"a", {5, 3}}}, {});
  EXPECT_EQ(place("learned", one, 50).outcome.makespan, 3'000'000'000);  // 3 ms in ticks of a picosecond
  const Problem apart = tiny(plain_devices(2), {{"a", {4, 4}}, {"b", {4, 4}}, {"c", {4, 4}}, {"d", {4, 4}}}, {});
  EXPECT_EQ(place("learned", apart, 200).outcome.makespan, 8'000'000'000);
  const Problem pinned = tiny(plain_devices(2), {{"a", {no, 2}}, {"b", {1, no}}}, {{0, 1}}, 1);
  EXPECT_EQ(place("learned", pinned, 50).placement.device, (std::vector<std::uint8_t>{1, 0}));
}

TEST(Learned, FollowsEverySchedule) {
  const Problem problem = zoo("zoo:rnnlm?layers=1&sequence=3@p100x2");
  for (const Schedule schedule : {Schedule::priority, Schedule::in_order}) {
    const search::PlacerResult found = place("learned", problem, 300, schedule);
    EXPECT_TRUE(found.outcome.feasible());
    EXPECT_EQ(found.placement.order.size(), problem.op_count());
  }
}

TEST(Learned, PlacesOnMoreDevicesAndOtherKindsThanItSawAndSaysSo) {
  EXPECT_EQ(place("learned", zoo("zoo:resnet-50@p100x4"), 60).note, "");
  EXPECT_THAT(place("learned", zoo("zoo:resnet-50@cluster-8x16"), 60).note,
              HasSubstr("the policy never saw more than 16 devices"));
  EXPECT_THAT(place("learned", zoo("zoo:resnet-50@edge-npu"), 60).note,
              HasSubstr("the policy never saw devices of kind 'npu'"));
  std::vector<Device> devices = plain_devices(255);
  const Problem most = tiny(devices, {{"a", std::vector<double>(255, 1)}, {"b", std::vector<double>(255, 1)}}, {});
  EXPECT_THAT(place("learned", most, 60).note, HasSubstr("more than 16 devices; 2 ops of types"));
}

TEST(Learned, IsRefusedWithThePathWhereThePolicyIsMissingOrDamaged) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "damaged_policy";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "checkpoint.h5") << "no HDF5";
  for (const std::string& named : {std::string("/nowhere"), folder.string()}) {
    const NamedPolicy policy(named);
    const Problem problem = chain_5(1);
    try {
      place("learned", problem, 50);
      FAIL() << named;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(named + "/checkpoint.h5"));
    }
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(place("best", problem, 2000).outcome.feasible());
    const std::string said = ::testing::internal::GetCapturedStderr();
    const std::size_t first = said.find("best goes on without learned");
    EXPECT_NE(first, std::string::npos) << said;
    EXPECT_EQ(said.find("best goes on without learned", first + 1), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace emplace::experiment::learned_placer_test
