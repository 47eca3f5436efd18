// The Hierarchical Planner's policy (sheet, section 7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "../../src/policy/group_features.hpp"
#include "../../src/policy/hierarchical_options.hpp"
#include "emplace/base/error.hpp"
#include "policy/enumerated.hpp"
#include "policy/greedy.hpp"
#include "problem/tiny.hpp"

namespace emplace {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string small =
    "hidden = 4\ngrouper_hidden = 4\ntype_width = 2\nadjacency = 4\nshape_outputs = 1\nshape_dimensions = 2\n";
const std::string quiet = small + "noise = \"none\"\n";

struct Made {
  Made(Problem of, const std::string& options, GroupingKind kind = GroupingKind::op)
      : problem(std::move(of)),
        list{{&problem, make_grouping(problem, kind)}},
        policy(make_policy("hierarchical", ConfigTable::parse_toml(options, "test"), list, 1)) {}

  void perturb(double size) {
    Stream random{{.seed = 9}};
    for (float& parameter : policy->parameters()) parameter += static_cast<float>(size * (2 * random.uniform() - 1));
  }
  // `key` names the draw, whose stream is not that of update and sample.
  Rollout draw(std::uint64_t update, std::uint32_t sample, std::uint32_t key) {
    Rollout rollout;
    rollout.update = update;
    rollout.sample = sample;
    Stream stream{{.seed = 5, .purpose = Purpose::sample_placement, .update = 77, .index = key}};
    const Draw one{&stream, {&rollout, 1}};
    policy->sample({&one, 1});
    return rollout;
  }
  double log_probability(const Rollout& rollout, std::size_t first_head = 0) {
    LogProbabilities log;
    policy->forward({&rollout, 1}, log);
    double sum = 0;
    for (const double value : log.of(0).subspan(first_head)) sum += value;
    return sum;
  }

  Problem problem;
  std::vector<PolicyProblem> list;
  std::unique_ptr<Policy> policy;
};

std::string message_of(const std::vector<PolicyProblem>& list, const std::string& options) {
  try {
    make_policy("hierarchical", ConfigTable::parse_toml(options, "test"), list, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Hierarchical, SharesOneGroupingAmongThePlacementsThatAreDrawnForIt) {
  Made made(two_chains(1), quiet + "groups = 4\nplacements_per_grouping = 4\n");
  std::vector<std::vector<std::uint8_t>> groups;
  std::set<std::vector<std::uint8_t>> placements;
  for (std::uint32_t sample = 0; sample < 8; ++sample) {
    const Rollout rollout = made.draw(1, sample, sample);
    EXPECT_EQ(rollout.actions.size(), 8U + 4U);
    groups.emplace_back(rollout.actions.begin(), rollout.actions.begin() + 8);
    placements.insert(rollout.placement.device);
  }
  for (std::size_t sample = 0; sample < 8; ++sample) EXPECT_EQ(groups[sample], groups[sample / 4 * 4]);
  EXPECT_NE(groups[0], groups[4]);
  EXPECT_GT(placements.size(), 2U);
  EXPECT_NE(made.draw(2, 0, 0).actions, made.draw(1, 0, 0).actions) << "another update draws anew";
}

TEST(Hierarchical, PlacesEachUnitOnTheDeviceOfItsGroup) {
  Made made(two_chains(1), quiet + "groups = 3\n");
  const Rollout rollout = made.draw(1, 0, 0);
  for (std::size_t op = 0; op < 8; ++op)
    EXPECT_EQ(rollout.placement.device[op], rollout.actions[8 + rollout.actions[op]]);
}

TEST(Hierarchical, CountsTheDrawOfACoLocationGroupOnce) {
  Made made(tiny(plain_devices(2), {{"a", {1, 1}, "g"}, {"b", {1, 1}}, {"c", {1, 1}, "g"}}, {{0, 1}, {1, 2}}, 1),
            quiet + "groups = 2\n", GroupingKind::colocation);
  const Rollout rollout = made.draw(1, 0, 0);
  EXPECT_EQ(rollout.actions.size(), 2U + 2U) << "two units, two groups";
  EXPECT_EQ(rollout.placement.device[0], rollout.placement.device[2]);
  LogProbabilities log;
  made.policy->forward({&rollout, 1}, log);
  EXPECT_EQ(log.value.size(), 4U);
}

TEST(Hierarchical, KeepsEveryDeviceWithinTheBoundsOfTheSquash) {
  // |logit| < 5, so with two devices p <= 1 / (1 + e^-10) = 0.9999546 and >= 4.54e-5, however large the parameters.
  Made made(chain_5(2), quiet + "groups = 3\n");
  made.perturb(100);
  double lowest = 1, highest = 0;
  for (std::uint8_t device : {std::uint8_t{0}, std::uint8_t{1}}) {
    Rollout rollout;
    rollout.actions = {0, 1, 2, 0, 1, device, device, device};
    LogProbabilities log;
    made.policy->forward({&rollout, 1}, log);
    for (std::size_t t = 5; t < 8; ++t) {
      lowest = std::min(lowest, std::exp(log.value[t]));
      highest = std::max(highest, std::exp(log.value[t]));
    }
  }
  EXPECT_LE(highest, 0.99995461);
  EXPECT_GE(lowest, 4.5397e-5);
  EXPECT_GT(highest, 0.9999) << "the bound is nearly met, or this test tests nothing";
}

TEST(Hierarchical, IsADistributionOverGroupingsAndPlacements) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}, {"c", {2, 1}}}, {{0, 1}, {0, 2}}, 1);
  const Enumerated all("hierarchical", quiet + "groups = 2\n", p, 2);
  const std::vector<double> probabilities = all.probabilities();
  EXPECT_EQ(probabilities.size(), 8U * 4U);
  double sum = 0;
  for (const double q : probabilities) sum += q;
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(Hierarchical, HasTheGradientOfTheExpectedCostAndSoHasReinforceWithSharedGroupings) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}, {"c", {2, 1}}}, {{0, 1}, {0, 2}}, 1);
  Enumerated all("hierarchical", quiet + "groups = 2\nplacements_per_grouping = 4\n", p, 2);
  std::vector<double> cost;
  for (std::size_t i = 0; i < 32; ++i) cost.push_back(static_cast<double>(i * 7 % 11));
  all.check_gradient_of_expected_cost(cost);
  for (const double baseline : {0.0, 5.0}) all.check_reinforce(cost, baseline, 4, 5000);
}

TEST(Hierarchical, TakesRowChunksAsItTakesAllRows) {
  // 600 ops are three chunks: the same log-probabilities and gradient as from one matrix of all rows.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 600; ++i) {
    ops.push_back({"op" + std::to_string(i), {1, 1}});
    if (i >= 7) edges.push_back({i - 7, i});
  }
  const std::string chosen = quiet + "groups = 5\nposition_waves = 3\ngrouper_entropy = 0.5\n";
  Made made(tiny(plain_devices(2), ops, edges, 1), chosen);
  made.perturb(0.3);
  const Rollout rollout = made.draw(1, 0, 0);
  LogProbabilities log;
  made.policy->forward({&rollout, 1}, log);
  std::vector<double> coefficients(log.value.size());
  for (std::size_t i = 0; i < 600; ++i) coefficients[i] = std::sin(static_cast<double>(i));
  made.policy->backward({&rollout, 1}, coefficients, 0.1);

  auto options = read_options<HierarchicalOptions>(ConfigTable::parse_toml(chosen, "test"));
  const std::vector<std::string> types = op_types_of(made.list);
  const HierarchicalNetwork network(hierarchical_sizes(options, {made.list, types, 1}));
  const UnitTable table = unit_table(made.list.front(), types, {1, 2}, 2, 3);
  std::vector<float> gradient(network.layout.size(), 0.0F);
  nn::Tape<float> tape;
  tape.begin(made.policy->parameters(), gradient);
  const auto rows =
      nn::categorical<float>(tape,
                             grouper_logits<float>(tape, network, table.first_type,
                                                   {table.first_op.data(), 600, network.sizes.op_constants()}),
                             {});
  for (std::size_t i = 0; i < 600; ++i)
    ASSERT_NEAR(log.value[i], rows.log_probability(i, rollout.actions[i]), 1e-5) << "op " << i;
  nn::seed<float>(tape, rows, std::span(rollout.actions).first(600), std::span(coefficients).first(600), 0.1 * 0.5);
  tape.backward();
  for (const nn::Slice& slice : {network.type_table, network.grouper_weight, network.group_weight, network.group_bias})
    for (std::size_t i = slice.begin; i < slice.begin + slice.size(); ++i)
      EXPECT_NEAR(made.policy->gradient()[i], gradient[i], 1e-3);
}

TEST(Hierarchical, GivesAGroupThatNoDeviceCanRunTheFirstDeviceWithoutAChoice) {
  // a runs on device 0 only, b on device 1 only: together in group 0 they are infeasible wherever they go.
  Made made(tiny(plain_devices(2), {{"a", {1, no}}, {"b", {no, 1}}}, {}, 1), quiet + "groups = 2\n");
  std::size_t together = 0;
  for (std::uint32_t sample = 0; sample < 64; ++sample) {
    const Rollout rollout = made.draw(1, sample, sample);
    const bool same = rollout.actions[0] == rollout.actions[1];
    LogProbabilities log;
    made.policy->forward({&rollout, 1}, log);
    made.policy->backward({&rollout, 1}, std::vector<double>(4, 1.0), 0.1);
    for (const float g : made.policy->gradient()) ASSERT_TRUE(std::isfinite(g));
    const std::size_t group = rollout.actions[0];
    EXPECT_EQ(rollout.actions[2 + group], 0);
    EXPECT_NEAR(log.value[2 + group], 0, 1e-6) << "one device allowed, or none";
    if (!same) {
      EXPECT_THAT(rollout.placement.device, ElementsAre(0, 1));
      continue;
    }
    ++together;
    EXPECT_THAT(rollout.placement.device, ElementsAre(0, 0));
  }
  EXPECT_GT(together, 0U);
  EXPECT_LT(together, 64U);
}

class HierarchicalNoise : public ::testing::TestWithParam<const char*> {
 protected:
  // How often draws that share (update, sample), and so grouping and noise, take which devices; with one of each.
  static std::map<std::vector<std::uint8_t>, std::pair<double, Rollout>> frequencies(Made& made, std::uint64_t update) {
    std::map<std::vector<std::uint8_t>, std::pair<double, Rollout>> seen;
    constexpr std::uint32_t count = 20000;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Rollout rollout = made.draw(update, 6, i);
      auto& [frequency, first] = seen[rollout.actions];
      if (frequency == 0) first = rollout;
      frequency += 1.0 / count;
    }
    return seen;
  }
};

TEST_P(HierarchicalNoise, GivesTheLogProbabilitiesOfTheNoisyLogits) {
  const std::string options =
      small + "groups = 2\nnoise_size = 2\nnoise_updates = 10\nnoise = \"" + GetParam() + "\"\n";
  Made made(chain_5(2), options);
  Made silent(chain_5(2), quiet + "groups = 2\n");
  made.perturb(2);
  silent.perturb(2);
  for (const auto& [actions, drawn] : frequencies(made, 3)) {
    const double p = std::exp(made.log_probability(drawn.second, 5));
    EXPECT_NEAR(drawn.first, p, 5 * std::sqrt(p / 20000) + 1e-4);
    EXPECT_GT(std::abs(made.log_probability(drawn.second) - silent.log_probability(drawn.second)), 1e-3);
  }
  // It ends after its updates.
  const Rollout late = made.draw(11, 6, 0);
  EXPECT_TRUE(late.observation.empty());
  EXPECT_DOUBLE_EQ(made.log_probability(late), silent.log_probability(late));
}

TEST_P(HierarchicalNoise, KeepsItsSizeWhenParametersMoveOn) {
  // Proximal steps ask for the old sample's log-probability under new parameters: the noise is still the drawn one.
  Made made(chain_5(2), small + "groups = 2\nnoise_size = 2\nnoise = \"" + GetParam() + "\"\n");
  made.perturb(0.5);
  const Rollout rollout = made.draw(1, 0, 0);
  const double before = made.log_probability(rollout);
  made.perturb(1);
  EXPECT_NE(made.log_probability(rollout), before);
  Stream random{{.seed = 9}};
  for (float& parameter : made.policy->parameters()) parameter -= static_cast<float>(2 * random.uniform() - 1);
  EXPECT_NEAR(made.log_probability(rollout), before, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Kinds, HierarchicalNoise, ::testing::Values("uniform", "rms"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(Hierarchical, WithoutGroupingPlacesUnitsInTopologicalOrder) {
  const Problem p = tiny(plain_devices(2), {{"b", {1, 1}}, {"a", {1, 1}}}, {{1, 0}}, 1);
  Made made(p, quiet + "grouping = \"none\"\n");
  const Rollout rollout = made.draw(1, 0, 0);
  ASSERT_EQ(rollout.actions.size(), 2U);
  EXPECT_EQ(rollout.placement.device[1], rollout.actions[0]) << "a is first";
  EXPECT_EQ(rollout.placement.device[0], rollout.actions[1]);
  const Enumerated all("hierarchical", quiet + "grouping = \"none\"\n", p);
  double sum = 0;
  for (const double q : all.probabilities()) sum += q;
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(Hierarchical, WithRandomGroupingHasNoGrouperToLearn) {
  Made made(two_chains(1), quiet + "grouping = \"random\"\ngroups = 2\nplacements_per_grouping = 1\n");
  for (const Policy::ParameterInfo& info : made.policy->layout())
    EXPECT_EQ(info.name.find("grouper"), std::string::npos);
  std::size_t ones = 0;
  for (std::uint32_t sample = 0; sample < 500; ++sample) {
    const Rollout rollout = made.draw(1, sample, sample);
    for (std::size_t op = 0; op < 8; ++op) ones += rollout.actions[op];
    LogProbabilities log;
    made.policy->forward({&rollout, 1}, log);
    EXPECT_EQ(log.value.size(), 2U) << "one head a group";
  }
  EXPECT_NEAR(static_cast<double>(ones), 2000, 5 * std::sqrt(1000)) << "4000 draws of probability 1/2";
}

TEST(Hierarchical, DecodesGreedilyTheLikeliestGroupsAndDevices) {
  Made made(chain_5(2), small + "groups = 2\n");
  made.perturb(1);
  const Rollout mode = greedy(*made.policy, 0);
  Rollout other = mode;
  LogProbabilities log, changed;
  made.policy->forward({&mode, 1}, log);
  for (std::size_t op = 0; op < 5; ++op) {
    other.actions[op] ^= 1;
    made.policy->forward({&other, 1}, changed);
    EXPECT_GE(log.value[op], changed.value[op]);
    other.actions[op] ^= 1;
  }
  other.actions.back() ^= 1;
  made.policy->forward({&other, 1}, changed);
  EXPECT_GE(log.value.back(), changed.value.back());
}

TEST(Hierarchical, TakesTheSmallestOfItsThreeDefaultsForTheNumberOfGroups) {
  // chain-5: min(256, 20 x 2, 5); 600 ops on 2 devices: 40.
  EXPECT_EQ(Made(chain_5(2), quiet).draw(1, 0, 0).actions.size(), 5U + 5U);
  std::vector<TinyOp> ops;
  for (int i = 0; i < 600; ++i) ops.push_back({"op" + std::to_string(i), {1, 1}});
  EXPECT_EQ(Made(tiny(plain_devices(2), ops, {}, 1), quiet).draw(1, 0, 0).actions.size(), 600U + 40U);
}

TEST(Hierarchical, PlacesAGraphWithOneOp) {
  Made made(tiny(plain_devices(2), {{"a", {1, 2}}}, {}, 1), quiet);
  const Rollout rollout = made.draw(1, 0, 0);
  EXPECT_EQ(rollout.actions.size(), 2U);
  EXPECT_EQ(rollout.placement.device[0], rollout.actions[1]);
}

TEST(Hierarchical, RefusesWhatItsNetworksCannotTake) {
  const Problem five = chain_5(2), four = fork_join(2);
  const Problem three_devices = tiny(plain_devices(3), {{"x", {1, 1, 1}}}, {}, 1);
  const std::vector<PolicyProblem> one = {{&five, make_grouping(five, GroupingKind::op)}};
  const std::vector<PolicyProblem> sizes = {one[0], {&four, make_grouping(four, GroupingKind::op)}};
  const std::vector<PolicyProblem> devices = {one[0], {&three_devices, make_grouping(three_devices, GroupingKind::op)}};
  EXPECT_THAT(message_of(one, quiet + "groups = 6\n"), HasSubstr("6 groups wanted, but 'tiny' has only 5 units"));
  EXPECT_EQ(message_of(sizes, quiet + "groups = 4\n"), "no error");
  EXPECT_THAT(message_of(sizes, quiet + "groups = 5\n"), HasSubstr("only 4 units"));
  EXPECT_THAT(message_of(sizes, quiet + "grouping = \"none\"\n"), HasSubstr("'tiny' has 5 and 'tiny' has 4"));
  EXPECT_THAT(message_of(devices, quiet), HasSubstr("'tiny' has 2 and 'tiny' has 3"));
  EXPECT_THAT(message_of(one, "hidden = 5\n"), HasSubstr("even"));
  EXPECT_THAT(message_of(one, "adjacency = 5\n"), HasSubstr("even"));
}

}  // namespace
}  // namespace emplace
