// Chunks of a gradient can be computed in any process: a policy that has only the parameters and a chunk's rollouts
// computes the same bits as the policy that processed all rollouts, whatever its memory contains.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "learn/gradient.hpp"
#include "learn/samples.hpp"
#include "learn/sampling.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::learn::chunk_by_anyone_test {
namespace {

using namespace test;

struct System {
  const char* name;
  const char* policy;
  const char* options;
};
constexpr System systems[] = {
    {"post", "post", ""},
    {"colocrl", "colocrl", "hidden = 8\ntype_width = 2\ndevice_width = 3\naligned = true"},
    // Each sample has its own noise; two chunks share a grouping.
    {"hierarchical", "hierarchical", "hidden = 8\ngrouper_hidden = 4\ngroups = 3"},
    {"placeto", "placeto", "message_rounds = 2\nposition_waves = 2"},
    {"gdp", "gdp", "hidden = 8\ntype_width = 2\nheads = 2\nfeedforward = 8\nsegment = 2\nrounds = 2"},
    // Each round has its own dropout masks and changes the features.
    {"hsdag", "hsdag", "hidden = 8\nupdate_timestep = 3"},
    // One pass for all samples of a chunk.
    {"hsdag_at_once", "hsdag", "hidden = 8\nupdate_timestep = 1\ndropout = 0"}};

void PrintTo(const System& system, std::ostream* out) { *out << system.name; }

class Chunks : public ::testing::TestWithParam<System> {
 protected:
  [[nodiscard]] std::unique_ptr<policy::Policy> fresh() const {
    return policy::make_policy(GetParam().policy, ConfigTable::parse_toml(GetParam().options, "test"), list, 1);
  }
  // Another policy of the training with the same parameters, as on another rank.
  [[nodiscard]] std::unique_ptr<policy::Policy> worker(policy::Policy& of) const {
    auto policy = fresh();
    std::ranges::copy(of.parameters(), policy->parameters().begin());
    policy->parameters_changed();
    return policy;
  }
  // Equal numbers of units, as ColocRL needs them.
  Problem one = chain_5(2);
  Problem two = tiny(plain_devices(2), {{"a", {4, 8}}, {"b", {6, 3}}, {"c", {8, 2}}, {"d", {6, 3}}, {"e", {4, no}}},
                     {{0, 1}, {0, 2}, {1, 3}, {2, 4}}, 1);
  std::vector<policy::PolicyProblem> list = {{&one, make_grouping(one, GroupingKind::op)},
                                             {&two, make_grouping(two, GroupingKind::op)}};
};

// Only what forward() and backward() may read of a rollout.
std::vector<policy::Rollout> as_sent(std::span<const policy::Rollout> rollouts) {
  std::vector<policy::Rollout> copies;
  for (const policy::Rollout& rollout : rollouts) copies.push_back(decisions_of(rollout));
  return copies;
}

void weigh(std::size_t first_rollout, std::span<double> coefficients) {
  for (std::size_t i = 0; i < coefficients.size(); ++i)
    coefficients[i] = std::sin(static_cast<double>(100 * first_rollout + i + 1));
}

TEST_P(Chunks, HaveTheSameBitsInEveryProcess) {
  constexpr double entropy_weight = 0.3;
  const auto master = fresh();
  Stream random{{.seed = 7}};
  for (float& parameter : master->parameters())
    if (std::isfinite(parameter)) parameter += static_cast<float>(0.2 * random.uniform() - 0.1);
  master->parameters_changed();
  const auto evaluator = evaluate::make_local_evaluator(std::vector<const Problem*>{&one, &two}, Schedule::fifo);
  std::vector<policy::Rollout> rollouts;
  sample_rollouts(*master, *evaluator, list, {.seed = 3, .samples = 5}, rollouts);

  // Five chunks of two samples, the third of which has one of each problem.
  std::vector<std::span<const policy::Rollout>> chunks;
  std::vector<std::size_t> firsts;
  std::vector<double> log;
  ChunkedGradient gradient(2);
  for (int twice = 0; twice < 2; ++twice) {  // the second time with memory from the first
    chunks.clear(), firsts.clear(), log.clear();
    gradient.compute(
        *master, rollouts,
        [&](const ChunkedGradient::Chunk& chunk, std::span<double> coefficients) {
          chunks.push_back(chunk.rollouts);
          firsts.push_back(chunk.first_rollout);
          log.insert(log.end(), chunk.log->value.begin(), chunk.log->value.end());
          weigh(chunk.first_rollout, coefficients);
        },
        entropy_weight);
  }
  const std::vector<float> wanted(master->gradient().begin(), master->gradient().end());
  ASSERT_EQ(chunks.size(), 5U);
  EXPECT_GT(std::ranges::max(wanted), 0.01F);

  // The first worker computes chunks 2, 4 and 0, the second 3 and 1; the sums are added as a tree.
  const std::unique_ptr<policy::Policy> workers[] = {worker(*master), worker(*master)};
  std::vector<std::vector<float>> parts(5);
  std::vector<std::vector<double>> logs(5);
  for (const std::size_t c : {2, 3, 4, 0, 1}) {
    policy::Policy& policy = *workers[c % 2];
    const std::vector<policy::Rollout> sent = as_sent(chunks[c]);
    policy::LogProbabilities part;
    policy.forward(sent, part);
    std::vector<double> coefficients(part.value.size());
    weigh(firsts[c], coefficients);
    std::ranges::fill(policy.gradient(), 0.0F);
    policy.backward(sent, coefficients, entropy_weight);
    parts[c].assign(policy.gradient().begin(), policy.gradient().end());
    logs[c] = part.value;
  }
  std::vector<double> all_logs;
  for (const auto& each : logs) all_logs.insert(all_logs.end(), each.begin(), each.end());
  EXPECT_EQ(all_logs, log);
  std::vector<float> total;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto part = [&](std::size_t c) { return static_cast<double>(parts[c][i]); };
    total.push_back(static_cast<float>(((part(0) + part(1)) + (part(2) + part(3))) + part(4)));
  }
  EXPECT_EQ(total, wanted);
}

INSTANTIATE_TEST_SUITE_P(Policies, Chunks, ::testing::ValuesIn(systems),
                         [](const auto& system) { return std::string(system.param.name); });

TEST(Policies, AreAllInTheTestsOfChunks) {
  for (const policy::PolicyEntry& policy : policy::policies())
    EXPECT_TRUE(std::ranges::any_of(systems, [&](const System& system) { return system.policy == policy.name; }))
        << "give " << policy.name << " a row in `systems`, with options that make its network small";
}

}  // namespace
}  // namespace emplace::learn::chunk_by_anyone_test
