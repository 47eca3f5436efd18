// Policies' estimates of the memory that they need, against what they take from the heap.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "emplace/base/config.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/problem/grouping.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/allocations.hpp"

namespace emplace::test::memory_need_test {
namespace {

using namespace policy;

// A path of ops, each of which is read by the next two.
Problem path(std::size_t ops) {
  std::vector<TinyOp> list;
  std::vector<TinyEdge> edges;
  for (std::uint32_t i = 0; i < ops; ++i) {
    list.push_back({fmt::format("op{}", i), {1, 2, 3, 4}});
    if (i > 0) edges.push_back({i - 1, i});
    if (i > 1) edges.push_back({i - 2, i});
  }
  return tiny(plain_devices(4), list, edges, 1);
}

struct Case {
  const char* name;
  const char* policy;
  const char* options;
  std::size_t units, samples;
};
void PrintTo(const Case& of, std::ostream* out) { *out << of.name; }

class MemoryNeedOf : public ::testing::TestWithParam<Case> {};

// What drawing samples and computing their gradient takes beyond the policy. The tape doubles its memory while it
// grows, so that up to half of it may never be touched.
double taken(Policy& policy, std::size_t samples) {
  std::vector<std::vector<Rollout>> drawn(samples);
  std::vector<Stream> streams;
  for (std::uint32_t s = 0; s < samples; ++s) {
    drawn[s].resize(policy.rounds(0));
    streams.push_back(Stream({.seed = 5, .purpose = Purpose::sample_placement, .update = 1, .index = s}));
  }
  const std::size_t before = allocated_bytes();
  reset_peak();
  for (std::uint32_t round = 0; round < policy.rounds(0); ++round) {
    std::vector<SampleSlot> slots;
    for (std::uint32_t s = 0; s < samples; ++s) {
      Rollout& now = drawn[s][round];
      now.update = 1;
      now.progress = 0;
      now.sample = s;
      now.round = round;
      slots.push_back({&streams[s], std::span(drawn[s]).first(round + 1)});
    }
    policy.sample(slots);
  }
  std::vector<Rollout> rollouts;
  for (std::vector<Rollout>& rounds : drawn) std::ranges::move(rounds, std::back_inserter(rollouts));
  LogProbabilities log;
  policy.forward(rollouts, log);
  policy.backward(rollouts, std::vector<double>(log.value.size(), 1.0), 0.1);
  return static_cast<double>(peak_bytes() - before);
}

TEST_P(MemoryNeedOf, IsAboutWhatThePolicyTakes) {
  const Case& of = GetParam();
  for (const std::size_t units : {of.units, 3 * of.units}) {
    const Problem problem = path(units);
    const std::vector<PolicyProblem> list = {{&problem, make_grouping(problem, GroupingKind::op)}};
    const auto policy = make_policy(of.policy, ConfigTable::parse_toml(of.options, "options"), list, 1);
    const MemoryNeed need = policy->memory_need(0, of.samples, of.samples);
    // Rollouts have their placements too, and each decision a log-probability and a coefficient.
    const auto samples = static_cast<double>(of.samples);
    const double all = need.bytes + samples * (17 * need.decisions + 4 * need.observations +
                                               static_cast<double>(policy->rounds(0) * (units + sizeof(Rollout))));
    const double found = taken(*policy, of.samples);
    EXPECT_GE(all, 0.5 * found) << units << " units";
    EXPECT_LE(all, 2 * found) << units << " units";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Policies, MemoryNeedOf,
    ::testing::Values(Case{"post", "post", "", 2000, 2}, Case{"colocrl", "colocrl", "", 100, 4},
                      Case{"colocrl_of_many_samples", "colocrl", "hidden = 32", 200, 20},
                      Case{"colocrl_aligned", "colocrl", "hidden = 64\naligned = true\nattention_width = 8", 200, 4},
                      Case{"hierarchical", "hierarchical", "groups = 50\nhidden = 128", 2000, 8},
                      Case{"hierarchical_of_many_samples", "hierarchical",
                           "groups = 100\nhidden = 32\nplacements_per_grouping = 1", 500, 40},
                      Case{"placeto", "placeto", "", 60, 2},
                      Case{"placeto_of_short_messages", "placeto", "message_rounds = 1\nsize = \"small\"", 100, 2},
                      Case{"gdp", "gdp", "", 500, 2},
                      Case{"gdp_narrow", "gdp", "hidden = 32\nfeedforward = 64", 2000, 8},
                      Case{"gdp_of_one_gate", "gdp", "superposition = \"graph\"\nrounds = 2", 500, 2},
                      Case{"gdp_with_priority_levels", "gdp", "hidden = 32\nfeedforward = 64\nschedule_levels = 64",
                           2000, 8},
                      Case{"gdp_without_attention", "gdp", "superposition = \"none\"\nattention = false", 1000, 2},
                      Case{"hsdag", "hsdag", "update_timestep = 2", 500, 2},
                      Case{"hsdag_of_long_episodes", "hsdag", "update_timestep = 20\nhidden = 32", 500, 8},
                      Case{"hsdag_in_passes", "hsdag", "parsing_passes = 3\nupdate_timestep = 1", 500, 2},
                      Case{"hsdag_with_attention", "hsdag", "encoder = \"gat\"\nupdate_timestep = 2", 500, 2},
                      Case{"hsdag_with_isomorphism_layers", "hsdag", "encoder = \"gin\"\nupdate_timestep = 2", 500, 2},
                      Case{"hsdag_node_by_node", "hsdag", "grouping = \"none\"\nupdate_timestep = 1", 1000, 2}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace emplace::test::memory_need_test
