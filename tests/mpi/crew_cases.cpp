// What a crew computes has the bits of one process.
#include "crew_cases.hpp"

#include <cmath>
#include <deque>

#include "../../src/dist/communicator.hpp"
#include "../../src/learn/gradient.hpp"
#include "emplace/base/not_finite.hpp"

namespace emplace::test {

namespace {

// Two problems, which the workers know too.
struct Shared {
  explicit Shared(World& its_world) : world(its_world) {}

  World& world;
  const Problem first = random_problem(2, 60, 4), second = random_problem(3, 40, 4);
  const std::vector<const Problem*> pointers{&first, &second};
  const std::vector<PolicyProblem> list{{&first, make_grouping(first, GroupingKind::colocation, 12)},
                                        {&second, make_grouping(second, GroupingKind::colocation, 12)}};
  const std::vector<std::string> op_types = op_types_of(list);
  const std::unique_ptr<Evaluator> evaluator = make_mpi_evaluator(world, pointers, Schedule::in_order);
};

// A policy here and on the workers.
struct Learning {
  Learning(Shared& shared, const char* name, const char* options)
      : plan{name, ConfigTable::parse_toml(options, "test"), {shared.list, shared.op_types, 5}},
        policy(find_entry(policies(), plan.name, "policy").make(plan.options, plan.setup)),
        crew(make_mpi_crew(shared.world, plan)) {}

  const PolicyPlan plan;
  const std::unique_ptr<Policy> policy;
  const std::unique_ptr<Crew> crew;
};

void check_same(std::span<const Rollout> got, std::span<const Rollout> wanted) {
  EMPLACE_CHECK(got.size() == wanted.size(), "{} rollouts for {}", got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EMPLACE_CHECK(got[i].problem == wanted[i].problem && got[i].sample == wanted[i].sample &&
                      got[i].round == wanted[i].round && got[i].update == wanted[i].update &&
                      got[i].actions == wanted[i].actions && got[i].observation == wanted[i].observation &&
                      got[i].placement == wanted[i].placement && got[i].outcome == wanted[i].outcome,
                  "rollout {} differs", i);
}

void weigh(const ChunkedGradient::Chunk& chunk, std::span<double> coefficients) {
  for (std::size_t i = 0; i < coefficients.size(); ++i)
    coefficients[i] = std::sin(static_cast<double>(100 * chunk.first_rollout + i + 1));
}

std::vector<float> gradient(Policy& policy, Crew* crew, std::span<const Rollout> rollouts) {
  ChunkedGradient chunks(3);
  chunks.use(crew);
  LogProbabilities log;
  chunks.forward(policy, rollouts, log);
  EMPLACE_CHECK(chunks.compute(policy, rollouts, weigh, 0.1).value == log.value);
  return {policy.gradient().begin(), policy.gradient().end()};
}

void step(Policy& policy) {
  for (std::size_t i = 0; i < policy.parameters().size(); ++i)
    policy.parameters()[i] += 0.01F * static_cast<float>(std::sin(static_cast<double>(i + 1)));
  policy.parameters_changed();
}

constexpr const char* small_hierarchical = "hidden = 8\ngrouper_hidden = 4\ngroups = 3";
// Its gradient is longer than what MPI sends without asking the receiver first.
constexpr const char* large_hierarchical = "hidden = 64\ngroups = 3";

// A policy that does not say how long its gradient is, so that what workers send makes no sense to the master.
class Shortened final : public Policy {
 public:
  explicit Shortened(Policy& policy) : policy_(policy) {}
  void sample(std::span<const Draw> draws) const override { policy_.sample(draws); }
  void check(std::span<const Rollout> rounds) const override { policy_.check(rounds); }
  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) override { policy_.forward(rollouts, log); }
  void backward(std::span<const Rollout>, std::span<const double>, double) override {}
  std::span<float> parameters() override { return policy_.parameters(); }
  std::span<float> gradient() override { return policy_.gradient().first(1); }
  [[nodiscard]] std::vector<ParameterInfo> layout() const override { return policy_.layout(); }

 private:
  Policy& policy_;
};

// What goes wrong while workers compute a gradient: here where their messages are read, where the next chunks are
// dealt, or there.
enum class Wrong { reading, dealing, working };

void compute_and_fail(Learning& learning, std::vector<Rollout> rollouts, Wrong wrong) {
  std::vector<Crew::Chunk> chunks;
  for (std::size_t i = 0; i < rollouts.size(); ++i) chunks.push_back({i, i + 1, 0.1});
  if (wrong == Wrong::dealing) chunks.back().end += 1;  // there is no such rollout
  if (wrong == Wrong::working) rollouts.back().actions.pop_back();
  Shortened shortened(*learning.policy);
  std::vector<double> coefficients;
  const auto weigh = [&](std::size_t, const LogProbabilities& log) {
    coefficients.assign(log.value.size(), 1);
    return std::span<const double>(coefficients);
  };
  std::vector<float> total(learning.policy->gradient().size());
  learning.crew->gradient(wrong == Wrong::reading ? shortened : *learning.policy, rollouts, chunks, weigh, total);
}

constexpr RollOut nine_samples{.seed = 4, .update = 1, .samples = 9, .schedule = Schedule::in_order};

int learn_and_fail(World& world, Wrong wrong) {
  Shared shared(world);
  Learning learning(shared, "hierarchical", large_hierarchical);
  std::vector<Rollout> rollouts;
  learning.crew->roll_out(*learning.policy, nine_samples, rollouts);
  compute_and_fail(learning, rollouts, wrong);
  return 0;
}

std::unique_ptr<Evaluator> make_but_not_on_rank_2(const EvaluatorChoice& choice, const EvaluatorSetup& setup) {
  if (setup.rank == 2 && setup.problems.front()->name == "random 7") throw EnvironmentError("cannot be made");
  return make_evaluator(choice, setup);
}

}  // namespace

int master_that_cannot_read_gradients(World& world) { return learn_and_fail(world, Wrong::reading); }
int master_that_cannot_deal_chunks(World& world) { return learn_and_fail(world, Wrong::dealing); }
int worker_that_cannot_learn(World& world) { return learn_and_fail(world, Wrong::working); }

int draw_for_ever(World& world) {
  Shared shared(world);
  Learning learning(shared, "hierarchical", small_hierarchical);
  std::vector<Rollout> rollouts;
  while (true) learning.crew->roll_out(*learning.policy, nine_samples, rollouts);
}

int answer_something_else(World& world) {
  const Communicator& comm = world.communicator();
  while (true) {
    const Arrival arrival = comm.wait(0);
    if (arrival.tag == Tag::samples) {
      static_cast<void>(comm.receive<std::byte>(arrival));
      comm.send(std::span<const std::byte>(), 0, Tag::answer);
    } else {
      static_cast<void>(comm.receive_broadcast(arrival));
    }
  }
}

// Rank 0 is alone, the others are a part of the job, where nothing of a failure is left for what comes after it.
int failures_in_a_part(World& world) {
  const auto part = world.split(world.rank() == 0 ? 0 : 1);
  if (!part->is_master()) return serve(*part, make_but_not_on_rank_2);
  if (part->size() == 1) return 0;
  const auto learn = [&](std::optional<Wrong> wrong) {
    Shared shared(*part);
    Learning learning(shared, "hierarchical", large_hierarchical);
    std::vector<Rollout> rollouts;
    learning.crew->roll_out(*learning.policy, nine_samples, rollouts);
    if (wrong) {
      try {
        compute_and_fail(learning, rollouts, *wrong);
      } catch (const RankFailure&) {
        EMPLACE_CHECK(wrong == Wrong::working);
        return;
      } catch (const BugError&) {
        EMPLACE_CHECK(wrong != Wrong::working);
      }
    }
    EMPLACE_CHECK(gradient(*learning.policy, learning.crew.get(), rollouts) ==
                  gradient(*learning.policy, nullptr, rollouts));
  };
  for (const Wrong wrong : {Wrong::reading, Wrong::dealing, Wrong::working}) {
    learn(wrong);
    learn({});
  }
  // A worker fails that has nothing to do, while another draws the only sample.
  const Problem problem = random_problem(7, 60, 4);
  const Problem* const pointer = &problem;
  const std::vector<PolicyProblem> list{{pointer, make_grouping(problem, GroupingKind::colocation, 12)}};
  const std::vector<std::string> types = op_types_of(list);
  const PolicyPlan plan{"hierarchical", ConfigTable::parse_toml(large_hierarchical, "test"), {list, types, 5}};
  const auto policy = find_entry(policies(), plan.name, "policy").make(plan.options, plan.setup);
  try {
    const auto evaluator = make_mpi_evaluator(*part, std::span(&pointer, 1), Schedule::in_order);
    const auto crew = make_mpi_crew(*part, plan);
    RollOut one = nine_samples;
    one.samples = 1;
    std::vector<Rollout> rollouts;
    crew->roll_out(*policy, one, rollouts);
    EMPLACE_CHECK(part->size() == 2, "rank 2 of the part cannot have an evaluator");
  } catch (const RankFailure&) {
  }
  learn({});
  return 0;
}

int same_samples_and_gradients(World& world) {
  Shared shared(world);
  const auto alone = make_local_evaluator(shared.pointers, Schedule::in_order);
  // Rounds that read start times, rounds that read each other, samples with noise of their own.
  for (const auto& [name, options] : {std::pair("placeto", "message_rounds = 2"),
                                      std::pair("gdp", "hidden = 8\nheads = 2\nfeedforward = 8\nrounds = 2"),
                                      std::pair("hierarchical", small_hierarchical)}) {
    Learning learning(shared, name, options);
    Policy& policy = *learning.policy;
    for (std::uint64_t update = 1; update <= 2; ++update) {
      std::vector<Rollout> here, there;
      const RollOut request{.seed = 4, .update = update, .samples = 7, .schedule = Schedule::in_order};
      roll_out(policy, *alone, shared.list, request, here);
      learning.crew->roll_out(policy, request, there);
      check_same(there, here);
      // The likeliest decisions for one of the problems, which has a best placement so far.
      RollOut greedy = request;
      greedy.samples = 1;
      greedy.problems = {1};
      greedy.greedy = true;
      greedy.best = {nullptr, &here.back().placement};
      std::vector<Rollout> one_here, one_there;
      roll_out(policy, *alone, shared.list, greedy, one_here);
      learning.crew->roll_out(policy, greedy, one_there);
      check_same(one_there, one_here);

      const std::vector<float> wanted = gradient(policy, nullptr, here);
      EMPLACE_CHECK(gradient(policy, learning.crew.get(), here) == wanted, "{}: another gradient", name);
      step(policy);
    }
  }
  return 0;
}

int works_on_after_a_failure(World& world) {
  Shared shared(world);
  Learning learning(shared, "hierarchical", small_hierarchical);
  Policy& policy = *learning.policy;
  const RollOut request{.seed = 4, .update = 1, .samples = 9, .schedule = Schedule::in_order};
  std::vector<Rollout> rollouts;
  learning.crew->roll_out(policy, request, rollouts);
  const std::vector<float> wanted = gradient(policy, nullptr, rollouts);
  const auto fails = [](const auto& work) {
    try {
      work();
    } catch (const NotFinite&) {
      return true;
    }
    return false;
  };

  // Coefficients that this process cannot give, while workers wait for them.
  ChunkedGradient chunks(2);
  chunks.use(learning.crew.get());
  const auto refuse = [](const ChunkedGradient::Chunk& chunk, std::span<double>) {
    if (chunk.first_rollout >= 8) throw NotFinite("a test");
  };
  EMPLACE_CHECK(fails([&] { chunks.compute(policy, rollouts, refuse, 0); }));
  EMPLACE_CHECK(gradient(policy, learning.crew.get(), rollouts) == wanted);

  // Parameters with which the workers can neither draw nor learn.
  const std::vector<float> good(policy.parameters().begin(), policy.parameters().end());
  for (float& parameter : policy.parameters()) parameter = 1e38F;
  policy.parameters_changed();
  EMPLACE_CHECK(fails([&] { learning.crew->roll_out(policy, request, rollouts); }));
  EMPLACE_CHECK(fails([&] { gradient(policy, learning.crew.get(), rollouts); }));
  std::ranges::copy(good, policy.parameters().begin());
  policy.parameters_changed();
  EMPLACE_CHECK(gradient(policy, learning.crew.get(), rollouts) == wanted);
  return 0;
}

// Rank 1 evaluates thirty times slower than the others, and says in its outcomes who it is.
int slow_workers_draw_less(World& world) {
  Shared shared(world);
  Learning learning(shared, "post", "");
  std::vector<Rollout> rollouts;
  std::size_t by_slow = 0, all = 0;
  for (std::uint64_t update = 1; update <= 4; ++update) {
    learning.crew->roll_out(*learning.policy, {.seed = 4, .update = update, .samples = 50}, rollouts);
    EMPLACE_CHECK(rollouts.size() == 100);
    if (update == 1) continue;  // until then nobody knows
    all += rollouts.size();
    for (const Rollout& rollout : rollouts) by_slow += rollout.outcome.subject == 1 ? 1 : 0;
  }
  EMPLACE_CHECK(by_slow <= all / 10, "rank 1 drew {} of {}", by_slow, all);
  return 0;
}

}  // namespace emplace::test
