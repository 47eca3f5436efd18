// Asynchronous controllers over MPI: the bits of one, the speed of several, their ends and their failures.
#include "tests/mpi/controller_cases.hpp"
#include "dist/clients.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/interrupt.hpp"
#include "dist/controller.hpp"
#include "emplace/problem/builder.hpp"
#include "learn/trainer.hpp"
#include "tests/mpi/evaluation_cases.hpp"

namespace emplace::test {

namespace {

// Four ops without edges, 1 ms each, on two devices: the best placements take 2 ms.
Problem four_ops() {
  ProblemBuilder builder("four ops");
  for (const char* name : {"device:0", "device:1"}) builder.add_device({name, "cpu", 1000});
  for (const char* name : {"a", "b", "c", "d"}) {
    OpSpec spec;
    spec.name = name;
    spec.type = "Any";
    spec.seconds = {1e-3, 1e-3};
    builder.add_op(spec);
  }
  return builder.build();
}

// A training with the learner reinforce and `count` asynchronous controllers; 0: a synchronous one in this process.
struct ControllerTraining {
  ControllerTraining(dist::World& world, std::size_t count, const Problem& its_problem = four_ops())
      : problem(its_problem),
        evaluator(count > 0 ? dist::make_mpi_evaluator(world, pointers, Schedule::fifo)
                            : evaluate::make_local_evaluator(pointers, Schedule::fifo)),
        options(ConfigTable::parse_toml(
            fmt::format("learning_rate = 0.01\nbaseline_start = \"first\"\nasynchronous = {}\ncontrollers = {}",
                        count > 0, std::max<std::size_t>(count, 1)),
            "test")),
        learner(find_entry(learn::learners(), "reinforce", "learner").make(options, {list, 5})) {
    if (count > 0) controllers = dist::make_mpi_controllers(world, {plan, "reinforce", options, count});
    trainer.emplace(*policy, *learner, *evaluator, list,
                    learn::TrainerOptions{.seed = 5, .controllers = controllers.get()});
  }

  const Problem problem;
  const std::vector<const Problem*> pointers{&problem};
  const std::vector<policy::PolicyProblem> list{{&problem, make_grouping(problem, GroupingKind::op)}};
  const std::vector<std::string> op_types = policy::op_types_of(list);
  const dist::PolicyPlan plan{"colocrl", ConfigTable::parse_toml("hidden = 8", "test"), {list, op_types, 5}};
  const std::unique_ptr<policy::Policy> policy =
      find_entry(policy::policies(), plan.name, "policy").make(plan.options, plan.setup);
  const std::unique_ptr<evaluate::Evaluator> evaluator;
  const ConfigTable options;
  const std::unique_ptr<learn::Learner> learner;
  std::unique_ptr<learn::Controllers> controllers;
  std::optional<learn::Trainer> trainer;
};

// The ranks' evaluator is at the master's service: not so if a rank still were a controller.
void check_evaluates(ControllerTraining& training) {
  const learn::Best& best = training.trainer->best().front();
  const evaluate::EvaluationJob job{0, &best.placement};
  EMPLACE_CHECK(best.any && training.evaluator->evaluate(std::span(&job, 1)).front() == best.outcome);
}

// Takes so long for each placement.
class SlowEvaluator final : public evaluate::DirectEvaluator {
 public:
  SlowEvaluator(std::unique_ptr<evaluate::Evaluator> evaluator, std::chrono::milliseconds each)
      : evaluator_(std::move(evaluator)), each_(each) {}
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    sleep_unless_stopped(each_ * static_cast<int>(jobs.size()));
    return evaluator_->evaluate(jobs);
  }

 private:
  std::unique_ptr<evaluate::Evaluator> evaluator_;
  std::chrono::milliseconds each_;
};

dist::EvaluatorFactory slow_on_rank_2(int rank, std::chrono::milliseconds each) {
  return [=](const auto& choice, const auto& setup) -> std::unique_ptr<evaluate::Evaluator> {
    EMPLACE_CHECK(setup.rank == rank, "rank {} is told that it is {}", rank, setup.rank);
    auto evaluator = evaluate::make_evaluator(choice, setup);
    if (rank != 2) return evaluator;
    return std::make_unique<SlowEvaluator>(std::move(evaluator), each);
  };
}

// Fails on the problem called "random 7", or always.
class BrokenEvaluator final : public evaluate::DirectEvaluator {
 public:
  explicit BrokenEvaluator(const evaluate::EvaluatorSetup& setup, bool always = false)
      : breaks_(always || setup.problems.front()->name == "random 7"),
        evaluator_(evaluate::make_evaluator({}, setup)) {}
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    if (breaks_) throw InputError("placement", "this evaluator refuses it");
    return evaluator_->evaluate(jobs);
  }

 private:
  bool breaks_;
  std::unique_ptr<evaluate::Evaluator> evaluator_;
};

std::unique_ptr<evaluate::Evaluator> make_broken(const evaluate::EvaluatorChoice&,
                                                 const evaluate::EvaluatorSetup& setup) {
  return std::make_unique<BrokenEvaluator>(setup);
}

}  // namespace

dist::EvaluatorFactory breaks_on_rank_2(int rank) {
  return [rank](const auto& choice, const auto& setup) -> std::unique_ptr<evaluate::Evaluator> {
    if (rank != 2) return evaluate::make_evaluator(choice, setup);
    return std::make_unique<BrokenEvaluator>(setup, true);
  };
}

dist::EvaluatorFactory slow_on_rank_2(int rank) { return slow_on_rank_2(rank, std::chrono::milliseconds(10)); }
dist::EvaluatorFactory very_slow_on_rank_2(int rank) { return slow_on_rank_2(rank, std::chrono::seconds(1)); }

int one_controller_has_synchronous_bits(dist::World& world) {
  const Problem problem = random_problem(2, 30, 3);
  const auto parameters_after_training = [&](std::size_t controllers) {
    ControllerTraining training(world, controllers, problem);
    for (int i = 0; i < 12; ++i) EMPLACE_CHECK(training.trainer->step().staleness == 0);
    if (controllers > 0) training.controllers->end();
    check_evaluates(training);
    const auto parameters = training.policy->parameters();
    return std::pair(std::vector<float>(parameters.begin(), parameters.end()),
                     training.trainer->best().front().placement);
  };
  EMPLACE_CHECK(parameters_after_training(1) == parameters_after_training(0), "other bits");
  return 0;
}

int controllers_of_unequal_speed(dist::World& world) {
  ControllerTraining training(world, 2);
  std::uint64_t staleness = 0, updates = 0;
  std::uint64_t of[2] = {0, 0};
  std::vector<double> seconds;  // means of the updates
  for (; updates < 500 || std::min(of[0], of[1]) < 3; ++updates) {
    const learn::UpdateReport report = training.trainer->step();
    staleness += report.staleness;
    ++of[report.controller];
    seconds.push_back(report.mean_seconds);
  }
  training.controllers->end();
  EMPLACE_CHECK(staleness > 0);
  EMPLACE_CHECK(std::max(of[0], of[1]) > 2 * std::min(of[0], of[1]), "{} and {} updates", of[0], of[1]);
  EMPLACE_CHECK(training.trainer->evaluations() == 8 * updates);
  EMPLACE_CHECK(training.trainer->best().front().outcome.makespan == 2'000'000'000);
  const double late = std::accumulate(seconds.end() - 100, seconds.end(), 0.0) / 100;
  EMPLACE_CHECK(late < 2.2e-3, "late samples take {} s on average", late);
  check_evaluates(training);
  return 0;
}

int controllers_are_stopped(dist::World& world) {
  ControllerTraining training(world, 2);
  training.trainer->step();
  const State before = training.trainer->save();
  try {
    const Interruptible interruptible([] { return true; });
    while (true) training.trainer->step();
  } catch (const Interrupted&) {
  }
  training.trainer->load(before);
  const auto begin = std::chrono::steady_clock::now();
  training.controllers->end();
  EMPLACE_CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(4), "a batch of 8 s was not stopped");
  check_evaluates(training);
  training.trainer->step();  // the workers become controllers again
  training.controllers->end();
  check_evaluates(training);
  return 0;
}

// Rank 0 is alone, the others are one part of the job: a failing controller throws there, and the next training works.
int controllers_fail_in_a_part(dist::World& world) {
  const auto part = world.split(world.rank() == 0 ? 0 : 1);
  if (!part->is_master()) return dist::serve(*part, make_broken);
  if (part->size() == 1) return 0;
  for (const std::uint32_t seed : {3, 7, 4, 7, 5}) {
    ControllerTraining training(*part, 2, random_problem(seed, 20, 2));
    std::string error;
    try {
      for (int i = 0; i < 3; ++i) training.trainer->step();
    } catch (const InputError& failure) {
      error = failure.what();
    }
    EMPLACE_CHECK((seed == 7) == error.ends_with("placement: this evaluator refuses it"), "seed {}: {}", seed, error);
  }
  return 0;
}

int controller_that_breaks(dist::World& world) {
  ControllerTraining training(world, 2);
  while (true) training.trainer->step();
}

}  // namespace emplace::test
