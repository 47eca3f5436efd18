// Learner workers compute the same bits as one process.
#include "tests/mpi/learner_worker_cases.hpp"
#include "dist/clients.hpp"

#include <cmath>
#include <deque>

#include "base/not_finite.hpp"
#include "dist/communicator.hpp"
#include "learn/gradient.hpp"

namespace emplace::test {

namespace {

// Two problems, and the evaluator through which the workers get them.
struct Shared {
  explicit Shared(dist::World& its_world) : world(its_world) {}

  dist::World& world;
  const Problem first = random_problem(2, 60, 4), second = random_problem(3, 40, 4);
  const std::vector<const Problem*> pointers{&first, &second};
  const std::vector<policy::PolicyProblem> list{{&first, make_grouping(first, GroupingKind::colocation, 12)},
                                                {&second, make_grouping(second, GroupingKind::colocation, 12)}};
  const std::vector<std::string> op_types = policy::op_types_of(list);
  const std::unique_ptr<evaluate::Evaluator> evaluator = dist::make_mpi_evaluator(world, pointers, Schedule::in_order);
};

// A policy in this process and its copies on the workers.
struct Learning {
  Learning(Shared& shared, const char* name, const char* options)
      : plan{name, ConfigTable::parse_toml(options, "test"), {shared.list, shared.op_types, 5}},
        policy(find_entry(policy::policies(), plan.name, "policy").make(plan.options, plan.setup)),
        learner_workers(dist::make_mpi_learner_workers(shared.world, plan)) {}

  const dist::PolicyPlan plan;
  const std::unique_ptr<policy::Policy> policy;
  const std::unique_ptr<learn::LearnerWorkers> learner_workers;
};

void check_same(std::span<const policy::Rollout> got, std::span<const policy::Rollout> wanted) {
  EMPLACE_CHECK(got.size() == wanted.size(), "{} rollouts for {}", got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EMPLACE_CHECK(got[i].problem == wanted[i].problem && got[i].sample == wanted[i].sample &&
                      got[i].round == wanted[i].round && got[i].update == wanted[i].update &&
                      got[i].actions == wanted[i].actions && got[i].observation == wanted[i].observation &&
                      got[i].placement == wanted[i].placement && got[i].outcome == wanted[i].outcome,
                  "rollout {} differs", i);
}

void weigh(const learn::ChunkedGradient::Chunk& chunk, std::span<double> coefficients) {
  for (std::size_t i = 0; i < coefficients.size(); ++i)
    coefficients[i] = std::sin(static_cast<double>(100 * chunk.first_rollout + i + 1));
}

std::vector<float> gradient(policy::Policy& policy, learn::LearnerWorkers* learner_workers,
                            std::span<const policy::Rollout> rollouts) {
  learn::ChunkedGradient chunks(3);
  chunks.use(learner_workers);
  policy::LogProbabilities log;
  chunks.forward(policy, rollouts, log);
  EMPLACE_CHECK(chunks.compute(policy, rollouts, weigh, 0.1).value == log.value);
  return {policy.gradient().begin(), policy.gradient().end()};
}

void step(policy::Policy& policy) {
  for (std::size_t i = 0; i < policy.parameters().size(); ++i)
    policy.parameters()[i] += 0.01F * static_cast<float>(std::sin(static_cast<double>(i + 1)));
  policy.parameters_changed();
}

constexpr const char* small_hierarchical = "hidden = 8\ngrouper_hidden = 4\ngroups = 3";
// Its gradient is longer than MPI's eager limit.
constexpr const char* large_hierarchical = "hidden = 64\ngroups = 3";

// A policy that reports a wrong length of its gradient, so that the master cannot read what workers send.
class Shortened final : public policy::Policy {
 public:
  explicit Shortened(policy::Policy& policy) : policy_(policy) {}
  void sample(std::span<const policy::SampleSlot> slots) const override { policy_.sample(slots); }
  void check(std::span<const policy::Rollout> rounds) const override { policy_.check(rounds); }
  void forward(std::span<const policy::Rollout> rollouts, policy::LogProbabilities& log) override {
    policy_.forward(rollouts, log);
  }
  void backward(std::span<const policy::Rollout>, std::span<const double>, double) override {}
  std::span<float> parameters() override { return policy_.parameters(); }
  std::span<float> gradient() override { return policy_.gradient().first(1); }
  [[nodiscard]] std::vector<ParameterInfo> layout() const override { return policy_.layout(); }

 private:
  policy::Policy& policy_;
};

// Where an error occurs while workers compute a gradient: on the master when it reads their messages or deals the next
// chunks, or on a worker.
enum class Wrong { reading, dealing, working };

void compute_and_fail(Learning& learning, std::vector<policy::Rollout> rollouts, Wrong wrong) {
  std::vector<learn::LearnerWorkers::Chunk> chunks;
  for (std::size_t i = 0; i < rollouts.size(); ++i) chunks.push_back({i, i + 1, 0.1});
  if (wrong == Wrong::dealing) chunks.back().end += 1;  // there is no such rollout
  if (wrong == Wrong::working) rollouts.back().actions.pop_back();
  Shortened shortened(*learning.policy);
  std::vector<double> coefficients;
  const auto weigh = [&](std::size_t, const policy::LogProbabilities& log) {
    coefficients.assign(log.value.size(), 1);
    return std::span<const double>(coefficients);
  };
  std::vector<float> total(learning.policy->gradient().size());
  learning.learner_workers->gradient(wrong == Wrong::reading ? shortened : *learning.policy, rollouts, chunks, weigh,
                                     total);
}

constexpr learn::SamplingRequest nine_samples{.seed = 4, .update = 1, .samples = 9, .schedule = Schedule::in_order};

int learn_and_fail(dist::World& world, Wrong wrong) {
  Shared shared(world);
  Learning learning(shared, "hierarchical", large_hierarchical);
  std::vector<policy::Rollout> rollouts;
  learning.learner_workers->sample_rollouts(*learning.policy, nine_samples, rollouts);
  compute_and_fail(learning, rollouts, wrong);
  return 0;
}

std::unique_ptr<evaluate::Evaluator> make_but_not_on_rank_2(const evaluate::EvaluatorChoice& choice,
                                                            const evaluate::EvaluatorSetup& setup) {
  if (setup.rank == 2 && setup.problems.front()->name == "random 7") throw EnvironmentError("cannot be made");
  return evaluate::make_evaluator(choice, setup);
}

}  // namespace

int master_that_cannot_read_gradients(dist::World& world) { return learn_and_fail(world, Wrong::reading); }
int master_that_cannot_deal_chunks(dist::World& world) { return learn_and_fail(world, Wrong::dealing); }
int worker_that_cannot_learn(dist::World& world) { return learn_and_fail(world, Wrong::working); }

int draw_for_ever(dist::World& world) {
  Shared shared(world);
  Learning learning(shared, "hierarchical", small_hierarchical);
  std::vector<policy::Rollout> rollouts;
  while (true) learning.learner_workers->sample_rollouts(*learning.policy, nine_samples, rollouts);
}

int answer_something_else(dist::World& world) {
  const dist::Communicator& comm = world.communicator();
  while (true) {
    const dist::Arrival arrival = comm.wait(0);
    if (arrival.tag == dist::Tag::samples) {
      static_cast<void>(comm.receive<std::byte>(arrival));
      comm.send(std::span<const std::byte>(), 0, dist::Tag::answer);
    } else {
      static_cast<void>(comm.receive_broadcast(arrival));
    }
  }
}

// Rank 0 is alone, the others are one part of the job. After a failure in this part, the next work there must succeed.
int failures_in_a_part(dist::World& world) {
  const auto part = world.split(world.rank() == 0 ? 0 : 1);
  if (!part->is_master()) return dist::serve(*part, make_but_not_on_rank_2);
  if (part->size() == 1) return 0;
  const auto learn = [&](std::optional<Wrong> wrong) {
    Shared shared(*part);
    Learning learning(shared, "hierarchical", large_hierarchical);
    std::vector<policy::Rollout> rollouts;
    learning.learner_workers->sample_rollouts(*learning.policy, nine_samples, rollouts);
    if (wrong) {
      try {
        compute_and_fail(learning, rollouts, *wrong);
      } catch (const dist::RankFailure&) {
        EMPLACE_CHECK(wrong == Wrong::working);
        return;
      } catch (const BugError&) {
        EMPLACE_CHECK(wrong != Wrong::working);
      }
    }
    EMPLACE_CHECK(gradient(*learning.policy, learning.learner_workers.get(), rollouts) ==
                  gradient(*learning.policy, nullptr, rollouts));
  };
  for (const Wrong wrong : {Wrong::reading, Wrong::dealing, Wrong::working}) {
    learn(wrong);
    learn({});
  }
  // A worker without work fails while another one draws the only sample.
  const Problem problem = random_problem(7, 60, 4);
  const Problem* const pointer = &problem;
  const std::vector<policy::PolicyProblem> list{{pointer, make_grouping(problem, GroupingKind::colocation, 12)}};
  const std::vector<std::string> types = policy::op_types_of(list);
  const dist::PolicyPlan plan{"hierarchical", ConfigTable::parse_toml(large_hierarchical, "test"), {list, types, 5}};
  const auto policy = find_entry(policy::policies(), plan.name, "policy").make(plan.options, plan.setup);
  try {
    const auto evaluator = dist::make_mpi_evaluator(*part, std::span(&pointer, 1), Schedule::in_order);
    const auto learner_workers = dist::make_mpi_learner_workers(*part, plan);
    learn::SamplingRequest one = nine_samples;
    one.samples = 1;
    std::vector<policy::Rollout> rollouts;
    learner_workers->sample_rollouts(*policy, one, rollouts);
    EMPLACE_CHECK(part->size() == 2, "rank 2 of the part cannot have an evaluator");
  } catch (const dist::RankFailure&) {
  }
  learn({});
  return 0;
}

int same_samples_and_gradients(dist::World& world) {
  Shared shared(world);
  const auto alone = evaluate::make_local_evaluator(shared.pointers, Schedule::in_order);
  // Policies whose rounds use start times or earlier rounds, or whose samples have noise.
  for (const auto& [name, options] : {std::pair("placeto", "message_rounds = 2"),
                                      std::pair("gdp", "hidden = 8\nheads = 2\nfeedforward = 8\nrounds = 2"),
                                      std::pair("gdp", "hidden = 8\nheads = 2\nfeedforward = 8\nschedule_levels = 3"),
                                      std::pair("hierarchical", small_hierarchical)}) {
    Learning learning(shared, name, options);
    policy::Policy& policy = *learning.policy;
    for (std::uint64_t update = 1; update <= 2; ++update) {
      std::vector<policy::Rollout> here, there;
      const learn::SamplingRequest request{.seed = 4, .update = update, .samples = 7, .schedule = Schedule::in_order};
      learn::sample_rollouts(policy, *alone, shared.list, request, here);
      learning.learner_workers->sample_rollouts(policy, request, there);
      check_same(there, here);
      // The likeliest decisions for one of the problems, which has a best placement so far.
      learn::SamplingRequest greedy = request;
      greedy.samples = 1;
      greedy.problems = {1};
      greedy.greedy = true;
      greedy.best = {nullptr, &here.back().placement};
      std::vector<policy::Rollout> one_here, one_there;
      learn::sample_rollouts(policy, *alone, shared.list, greedy, one_here);
      learning.learner_workers->sample_rollouts(policy, greedy, one_there);
      check_same(one_there, one_here);

      const std::vector<float> wanted = gradient(policy, nullptr, here);
      EMPLACE_CHECK(gradient(policy, learning.learner_workers.get(), here) == wanted, "{}: another gradient", name);
      step(policy);
    }
  }
  return 0;
}

int works_on_after_a_failure(dist::World& world) {
  Shared shared(world);
  Learning learning(shared, "hierarchical", small_hierarchical);
  policy::Policy& policy = *learning.policy;
  const learn::SamplingRequest request{.seed = 4, .update = 1, .samples = 9, .schedule = Schedule::in_order};
  std::vector<policy::Rollout> rollouts;
  learning.learner_workers->sample_rollouts(policy, request, rollouts);
  const std::vector<float> wanted = gradient(policy, nullptr, rollouts);
  const auto fails = [](const auto& work) {
    try {
      work();
    } catch (const NotFinite&) {
      return true;
    }
    return false;
  };

  // An error in computing the coefficients, while workers wait for them.
  learn::ChunkedGradient chunks(2);
  chunks.use(learning.learner_workers.get());
  const auto refuse = [](const learn::ChunkedGradient::Chunk& chunk, std::span<double>) {
    if (chunk.first_rollout >= 8) throw NotFinite("a test");
  };
  EMPLACE_CHECK(fails([&] { chunks.compute(policy, rollouts, refuse, 0); }));
  EMPLACE_CHECK(gradient(policy, learning.learner_workers.get(), rollouts) == wanted);

  // Parameters that are not finite, so that the workers can neither draw nor learn.
  const std::vector<float> good(policy.parameters().begin(), policy.parameters().end());
  for (float& parameter : policy.parameters()) parameter = 1e38F;
  policy.parameters_changed();
  EMPLACE_CHECK(fails([&] { learning.learner_workers->sample_rollouts(policy, request, rollouts); }));
  EMPLACE_CHECK(fails([&] { gradient(policy, learning.learner_workers.get(), rollouts); }));
  std::ranges::copy(good, policy.parameters().begin());
  policy.parameters_changed();
  EMPLACE_CHECK(gradient(policy, learning.learner_workers.get(), rollouts) == wanted);
  return 0;
}

// Rank 1 evaluates thirty times slower than the others; outcomes have the number of the rank.
int slow_workers_draw_less(dist::World& world) {
  Shared shared(world);
  Learning learning(shared, "post", "");
  std::vector<policy::Rollout> rollouts;
  std::size_t by_slow = 0, all = 0;
  for (std::uint64_t update = 1; update <= 4; ++update) {
    learning.learner_workers->sample_rollouts(*learning.policy, {.seed = 4, .update = update, .samples = 50}, rollouts);
    EMPLACE_CHECK(rollouts.size() == 100);
    if (update == 1) continue;  // speeds are not measured yet
    all += rollouts.size();
    for (const policy::Rollout& rollout : rollouts) by_slow += rollout.outcome.subject == 1 ? 1 : 0;
  }
  EMPLACE_CHECK(by_slow <= all / 10, "rank 1 drew {} of {}", by_slow, all);
  return 0;
}

}  // namespace emplace::test
