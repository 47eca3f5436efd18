// The parameter store of asynchronous controllers, with controllers in this process whose answers arrive in an order
// that the test gives.
#include "learn/parameter_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "emplace/base/error.hpp"
#include "nn/tape/optimizer.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::parameter_store_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Op c is faster on device 1, the others on device 0.
Problem three_ops() { return tiny(plain_devices(2), {{"a", {1, 3}}, {"b", {1, 3}}, {"c", {4, 1}}}, {{0, 1}, {1, 2}}); }

// Each controller computes its batch as soon as it gets it, with a policy and a learner of its own.
class ScriptedControllers final : public Controllers {
 public:
  ScriptedControllers(const Problem& problem, const ConfigTable& options, std::size_t count,
                      std::deque<std::size_t> order)
      : order_(std::move(order)), list_{{&problem, make_grouping(problem, GroupingKind::op)}}, batch_(count) {
    policy_ = make_small_policy("chain", list_, 1);
    learner_ = find_entry(learners(), "reinforce", "learner").make(options, {list_, 1});
    const Problem* const pointer = &problem;
    evaluator_ = evaluate::make_local_evaluator(std::span(&pointer, 1), Schedule::fifo);
  }
  [[nodiscard]] std::size_t count() const override { return batch_.size(); }
  void give(std::size_t controller, const SamplingRequest& request, const State& state,
            std::span<const float> parameters) override {
    EXPECT_FALSE(batch_.at(controller));
    numbers.push_back(request.update);
    std::ranges::copy(parameters, policy_->parameters().begin());
    AsynchronousLearner& learner = *learner_->asynchronous();
    learner.load_controller(controller, state);
    Contribution contribution;
    contribution.controller = controller;
    sample_rollouts(*policy_, *evaluator_, list_, request, contribution.rollouts);
    contribution.report = learner.compute(*policy_, contribution.rollouts, controller);
    contribution.gradient.assign(policy_->gradient().begin(), policy_->gradient().end());
    contribution.state = learner.save_controller(controller);
    batch_[controller] = std::move(contribution);
  }
  Contribution next() override {
    EMPLACE_CHECK(!order_.empty() && batch_.at(order_.front()), "the script is wrong");
    Contribution contribution = std::move(*batch_[order_.front()]);
    batch_[order_.front()].reset();
    order_.pop_front();
    gradients.push_back(contribution.gradient);
    return contribution;
  }
  void end() override {}

  std::vector<std::uint64_t> numbers;         // of the batches, in the order in which they were given
  std::vector<std::vector<float>> gradients;  // in the order of their arrival

 private:
  std::deque<std::size_t> order_;
  std::vector<policy::PolicyProblem> list_;
  std::unique_ptr<policy::Policy> policy_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<evaluate::Evaluator> evaluator_;
  std::vector<std::optional<Contribution>> batch_;
};

ConfigTable options_for(std::size_t controllers) {
  return table({{"asynchronous", flag(true)},
                {"controllers", whole(static_cast<std::int64_t>(controllers))},
                {"learning_rate", number(0.05)}});
}

// An asynchronous training whose gradients arrive in this order of controllers.
struct Asynchronous {
  Asynchronous(std::size_t count, std::deque<std::size_t> order,
               std::function<bool(std::uint64_t, std::uint64_t)> may_begin = {})
      : options(options_for(count)), controllers(problem, options, count, std::move(order)) {
    const Problem* const pointer = &problem;
    policy = make_small_policy("chain", list, 1);
    learner = find_entry(learners(), "reinforce", "learner").make(options, {list, 1});
    evaluator = evaluate::make_local_evaluator(std::span(&pointer, 1), Schedule::fifo);
    trainer.emplace(*policy, *learner, *evaluator, list,
                    TrainerOptions{.seed = 1, .controllers = &controllers, .may_begin = std::move(may_begin)});
  }
  std::vector<UpdateReport> steps(std::size_t count) {
    std::vector<UpdateReport> reports;
    for (std::size_t i = 0; i < count; ++i) reports.push_back(trainer->step());
    return reports;
  }
  [[nodiscard]] std::vector<float> parameters() const {
    return {policy->parameters().begin(), policy->parameters().end()};
  }

  const Problem problem = three_ops();
  const std::vector<policy::PolicyProblem> list{{&problem, make_grouping(problem, GroupingKind::op)}};
  ConfigTable options;
  ScriptedControllers controllers;
  std::unique_ptr<policy::Policy> policy;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::optional<Trainer> trainer;
};

TEST(ParameterStore, MakesThePlainAdamStepsOfTheGradientsInTheOrderOfTheirArrival) {
  Asynchronous training(3, {2, 0, 2, 2, 1, 0, 1, 2, 0, 1});
  std::vector<float> wanted = training.parameters();
  training.steps(10);
  nn::OptimizerOptions adam;
  adam.learning_rate = 0.05;
  nn::Optimizer optimizer(adam);
  for (std::vector<float> gradient : training.controllers.gradients) {
    for (float& slope : gradient) slope = -slope;
    optimizer.step(wanted, gradient);
  }
  EXPECT_EQ(training.parameters(), wanted);
  EXPECT_EQ(training.trainer->evaluations(), 80u);
}

TEST(ParameterStore, CountsTheUpdatesSinceAControllersParametersWereRead) {
  Asynchronous training(2, {0, 0, 0, 1, 1, 0});
  std::vector<std::uint64_t> staleness, controllers;
  for (const UpdateReport& report : training.steps(6)) {
    staleness.push_back(report.staleness);
    controllers.push_back(report.controller);
  }
  EXPECT_THAT(controllers, ElementsAre(0, 0, 0, 1, 1, 0));
  EXPECT_THAT(staleness, ElementsAre(0, 0, 0, 3, 0, 2));
}

TEST(ParameterStore, WithOneControllerHasTheBitsOfASynchronousTraining) {
  Asynchronous training(1, std::deque<std::size_t>(20, 0));
  test::Training synchronous(three_ops(), "reinforce", table({{"learning_rate", number(0.05)}}), 1, "chain");
  for (int i = 0; i < 20; ++i) {
    const UpdateReport got = training.trainer->step(), wanted = synchronous.trainer->step();
    EXPECT_EQ(got.staleness, 0u);
    EXPECT_EQ(got.learner, wanted.learner);
  }
  EXPECT_THAT(training.parameters(), ::testing::ElementsAreArray(synchronous.policy->parameters()));
  EXPECT_EQ(training.trainer->best().front().placement, synchronous.trainer->best().front().placement);
  EXPECT_EQ(training.trainer->best().front().evaluation, synchronous.trainer->best().front().evaluation);
}

TEST(ParameterStore, GivesEachControllerItsOwnBaseline) {
  Asynchronous training(2, {0, 0, 0, 1, 0});
  const std::vector<UpdateReport> reports = training.steps(5);
  const auto baseline = [&](std::size_t i) { return reports[i].learner.at("baseline"); };
  EXPECT_EQ(baseline(3), baseline(0)) << "both begin at the failing reward";
  EXPECT_GT(baseline(1), baseline(0));
  EXPECT_GT(baseline(4), baseline(2));
}

TEST(ParameterStore, GivesTheOpenBatchesOfASavedTrainingAgain) {
  Asynchronous before(3, {2, 2, 0});
  before.steps(3);
  EXPECT_THAT(before.controllers.numbers, ElementsAre(1, 2, 3, 4, 5));
  Asynchronous after(3, {0, 1, 2});
  std::ranges::copy(before.parameters(), after.policy->parameters().begin());
  after.learner->load(before.learner->save(), *after.policy);
  after.trainer->load(before.trainer->save());
  after.steps(3);
  // Of the batches 1 to 5, 3, 4 and 1 were applied.
  EXPECT_THAT(after.controllers.numbers, ElementsAre(2, 5, 6, 7, 8));
  EXPECT_EQ(after.trainer->updates(), 6u);
}

TEST(ParameterStore, WithOneControllerGoesOnToTheSameBits) {
  Asynchronous whole(1, std::deque<std::size_t>(9, 0)), before(1, std::deque<std::size_t>(4, 0)),
      after(1, std::deque<std::size_t>(5, 0));
  whole.steps(9);
  before.steps(4);
  std::ranges::copy(before.parameters(), after.policy->parameters().begin());
  after.learner->load(before.learner->save(), *after.policy);
  after.trainer->load(before.trainer->save());
  after.steps(5);
  EXPECT_EQ(after.parameters(), whole.parameters());
  EXPECT_EQ(after.learner->save(), whole.learner->save());
  EXPECT_EQ(after.trainer->save(), whole.trainer->save());
}

TEST(ParameterStore, RefusesOpenBatchesThatNoTrainingLeaves) {
  Asynchronous training(2, {0, 1});
  training.steps(2);
  for (const std::vector<std::uint64_t>& open : {std::vector<std::uint64_t>{0}, {4}, {2, 2}, {3, 1}}) {
    State state = training.trainer->save();
    put(state, "open_batches", open);
    try {
      training.trainer->load(state);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("open_batches"));
    }
  }
}

TEST(ParameterStore, GivesNoMoreBatchesThanTheBudgetHas) {
  const auto in_budget = [](std::uint64_t updates, std::uint64_t evaluations) {
    return updates < 4 && evaluations <= 32;
  };
  Asynchronous training(3, {0, 1, 2, 0}, in_budget);
  training.steps(4);
  EXPECT_THAT(training.controllers.numbers, ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace emplace::learn::parameter_store_test
