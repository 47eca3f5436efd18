// What a crew computes has the bits of one process.
#include "crew_cases.hpp"

#include <cmath>
#include <deque>

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

}  // namespace

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
