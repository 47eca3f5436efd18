// GDP's network and distribution (sheet, section 7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "../../src/policy/gdp_features.hpp"
#include "../../src/policy/gdp_network.hpp"
#include "../../src/policy/op_features.hpp"
#include "emplace/base/error.hpp"
#include "policy/enumerated.hpp"
#include "policy/network_check.hpp"
#include "problem/tiny.hpp"

namespace emplace {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// A network small enough to look at every parameter.
GdpSizes small_sizes() {
  GdpSizes sizes;
  sizes.types = 3;
  sizes.type_width = 2;
  sizes.features = 3;
  sizes.devices = 3;
  sizes.hidden = 4;
  sizes.graph_layers = 2;
  sizes.placer_layers = 2;
  sizes.heads = 2;
  sizes.feedforward = 5;
  sizes.segment = 8;
  return sizes;
}

Lists lists(const std::vector<std::vector<std::uint32_t>>& rows) {
  Lists result;
  for (const auto& row : rows) {
    result.items.insert(result.items.end(), row.begin(), row.end());
    result.begin.push_back(static_cast<std::uint32_t>(result.items.size()));
  }
  return result;
}

// What a network reads of `n` nodes, in double.
struct Graph {
  Graph(std::size_t n, const GdpSizes& sizes, std::vector<std::vector<std::uint32_t>> adjacent)
      : nodes(n),
        features(random_doubles(n * sizes.features, 2, 1)),
        decisions(random_doubles(n * sizes.decision, 3, 1)),
        devices(random_doubles(3 * sizes.device_features, 4, 1)),
        neighbours(lists(adjacent)) {
    std::vector<std::vector<std::uint32_t>> type(n), everything(1);
    for (std::uint32_t v = 0; v < n; ++v) {
      type[v] = {v % static_cast<std::uint32_t>(sizes.types)};
      everything[0].push_back(v);
    }
    types = lists(type);
    all = lists(everything);
  }

  template <class T>
  GdpResult operator()(nn::Tape<T>& tape, const GdpNetwork& network) const {
    const auto matrix = [&](const std::vector<double>& from, std::size_t rows) {
      const nn::Matrix<T> values = tape.matrix(rows, from.size() / rows);
      std::ranges::transform(from, values.data, [](double x) { return static_cast<T>(x); });
      return nn::Matrix<const T>(values);
    };
    return gdp_network<T>(
        tape, network,
        {&types, matrix(features, nodes), matrix(decisions, nodes), &neighbours, &all, matrix(devices, 3)});
  }

  std::size_t nodes;
  std::vector<double> features, decisions, devices;
  Lists types, neighbours, all;
};

Graph five_nodes(const GdpSizes& sizes) { return {5, sizes, {{1, 2}, {0}, {0, 3}, {2}, {}}}; }

TEST(Gdp, HasTheParametersOfTheSheet) {
  // Type 320, input 41 x 128 + 128 = 5,376, encoder 4 x 49,408, placer 3 x 197,760, conditioner 197,760, head 258.
  GdpSizes sizes;
  sizes.types = 10;
  sizes.features = gdp_feature_count({});
  sizes.devices = 2;
  EXPECT_EQ(sizes.type_width + sizes.features, 41U);
  EXPECT_EQ(GdpNetwork(sizes).layout.size(), 994'626U);
}

TEST(Gdp, HasRightGradientsWithAndWithoutEachOfItsParts) {
  const auto check = [](const char* what, auto&& change) {
    SCOPED_TRACE(what);
    GdpSizes sizes = small_sizes();
    change(sizes);
    const GdpNetwork network(sizes);
    const Graph graph = five_nodes(sizes);
    check_network(
        network.layout.size(), [&]<class T>(nn::Tape<T>& tape) { return graph(tape, network).logits; }, 1e-5);
  };
  check("as it is", [](GdpSizes&) {});
  check("without gates", [](GdpSizes& s) { s.superposition = Superposition::none; });
  check("gated by the graph", [](GdpSizes& s) { s.superposition = Superposition::graph; });
  check("without attention", [](GdpSizes& s) { s.attention = false; });
  check("in short segments that forget", [](GdpSizes& s) {
    s.segment = 2;
    s.memory = false;
  });
  check("centered", [](GdpSizes& s) { s.centered = true; });
  check("with decisions", [](GdpSizes& s) { s.decision = 3; });
  check("with features of devices", [](GdpSizes& s) { s.device_features = 2; });
}

std::vector<double> some_parameters(const GdpNetwork& network) { return random_doubles(network.layout.size(), 1, 0.5); }

nn::Matrix<const double> logits_of(nn::Tape<double>& tape, const GdpNetwork& network, const Graph& graph,
                                   std::span<const double> parameters) {
  tape.begin(parameters, {});
  return tape.value(graph(tape, network).logits);
}

TEST(Gdp, GivesRenumberedNodesTheSameLogits) {
  const GdpSizes sizes = small_sizes();
  const GdpNetwork network(sizes);
  const std::vector<double> parameters = some_parameters(network);
  const Graph graph = five_nodes(sizes);
  const std::vector<std::uint32_t> number = {3, 0, 4, 2, 1};  // new number of each node
  Graph other = graph;
  std::vector<std::vector<std::uint32_t>> adjacent(5), type(5);
  for (std::uint32_t v = 0; v < 5; ++v) {
    for (const std::uint32_t u : graph.neighbours[v]) adjacent[number[v]].push_back(number[u]);
    type[number[v]] = {graph.types[v].front()};
    std::copy_n(graph.features.begin() + v * 3, 3, other.features.begin() + number[v] * 3);
  }
  other.neighbours = lists(adjacent);
  other.types = lists(type);
  nn::Tape<double> tape, other_tape;
  const auto before = logits_of(tape, network, graph, parameters),
             after = logits_of(other_tape, network, other, parameters);
  for (std::uint32_t v = 0; v < 5; ++v)
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(before(v, d), after(number[v], d), 1e-12);
}

// Nodes without edges, each of a type of its own, so that the table tells which nodes a gradient reaches.
struct TwoSegments {
  TwoSegments() {
    sizes.types = 6;
    sizes.segment = 3;
    sizes.superposition = Superposition::per_node;
  }
  // Of the sum of the second segment's logits.
  std::vector<double> gradient(const GdpNetwork& network, const std::vector<double>& parameters) const {
    std::vector<double> result(parameters.size());
    nn::Tape<double> tape;
    tape.begin(parameters, result);
    const Graph graph(6, sizes, std::vector<std::vector<std::uint32_t>>(6));
    const nn::Var logits = graph(tape, network).logits;
    const nn::Matrix<double> d = tape.gradient(logits);
    for (std::size_t v = 3; v < 6; ++v) d(v, v % 3) = 1;
    tape.backward();
    return result;
  }
  GdpSizes sizes = small_sizes();
};

TEST(Gdp, ReadsTheSegmentBeforeButSendsNoGradientThere) {
  const TwoSegments two;
  const GdpNetwork network(two.sizes);
  std::vector<double> parameters = some_parameters(network);
  const std::vector<double> gradient = two.gradient(network, parameters);
  const auto part = [&](const nn::Slice& slice) {
    double sum = 0;
    for (const double g : std::span(gradient).subspan(slice.begin, slice.size())) sum += std::abs(g);
    return sum;
  };
  const nn::Slice& table = network.type_table;
  EXPECT_EQ(part({table.begin, 3, 2}), 0) << "types of the first segment";
  EXPECT_GT(part({table.begin + 6, 3, 2}), 1e-3) << "types of the second";
  EXPECT_GT(part(network.input.weight), 1e-3);
  EXPECT_GT(part(network.graph.front().join.weight), 1e-3);

  // It does read the first: its types change the second segment's logits.
  const Graph graph(6, two.sizes, std::vector<std::vector<std::uint32_t>>(6));
  nn::Tape<double> tape, moved_tape;
  const auto before = logits_of(tape, network, graph, parameters);
  std::vector<double> moved = parameters;
  moved[table.begin] += 0.5;
  const auto after = logits_of(moved_tape, network, graph, moved);
  EXPECT_GT(std::abs(before(4, 0) - after(4, 0)), 1e-6);
}

TEST(Gdp, ForgetsTheSegmentBeforeWithoutMemoryAndSeesAllInASegmentOfAll) {
  const auto second_segment = [](bool memory, std::size_t segment) {
    TwoSegments two;
    two.sizes.memory = memory;
    two.sizes.segment = segment;
    const GdpNetwork network(two.sizes);
    nn::Tape<double> tape;
    const Graph graph(6, two.sizes, std::vector<std::vector<std::uint32_t>>(6));
    std::vector<double> parameters = some_parameters(network);
    const double before = logits_of(tape, network, graph, parameters)(4, 0);
    parameters[network.type_table.begin] += 0.5;
    return std::pair(before, logits_of(tape, network, graph, parameters)(4, 0));
  };
  const auto forgets = second_segment(false, 3), remembers = second_segment(true, 3), whole = second_segment(true, 6);
  EXPECT_EQ(forgets.first, forgets.second);
  EXPECT_NE(remembers.first, remembers.second);
  EXPECT_NE(whole.first, remembers.first);
}

TEST(Gdp, IsNotGatedWhereTheConditionerIsZero) {
  GdpSizes gated = small_sizes(), plain = small_sizes();
  plain.superposition = Superposition::none;
  const GdpNetwork with(gated), without(plain);
  std::vector<double> parameters = some_parameters(with), same;
  const auto zero = [&](const nn::Slice& slice) { std::fill_n(parameters.begin() + slice.begin, slice.size(), 0.0); };
  zero(with.conditioner.after_feedforward.gain);
  zero(with.conditioner.after_feedforward.bias);
  for (const auto& [name, slice, start] : with.layout.infos())
    if (!name.starts_with("conditioner"))
      same.insert(same.end(), parameters.begin() + slice.begin, parameters.begin() + slice.begin + slice.size());
  ASSERT_EQ(same.size(), without.layout.size());
  nn::Tape<double> tape, other;
  const Graph graph = five_nodes(gated);
  EXPECT_THAT(logits_of(tape, with, graph, parameters).all(),
              ::testing::Pointwise(::testing::DoubleNear(1e-12), logits_of(other, without, graph, same).all()));
}

TEST(Gdp, HasOneGateForTheWholeGraphOrOneForEachNodeThatStartsNearOne) {
  for (const Superposition mode : {Superposition::graph, Superposition::per_node}) {
    GdpSizes sizes = small_sizes();
    sizes.superposition = mode;
    const GdpNetwork network(sizes);
    std::vector<double> parameters(network.layout.size());
    network.layout.initialize<double>(parameters, 1);
    nn::Tape<double> tape;
    tape.begin(parameters, {});
    const auto gate = tape.value(five_nodes(sizes)(tape, network).gate);
    EXPECT_EQ(gate.rows, mode == Superposition::graph ? 1U : 5U);
    for (const double each : gate.all()) EXPECT_NEAR(each, mode == Superposition::per_node ? 1 : 0.5, 0.2);
  }
}

// Types tell the ops of the toys apart.
Problem with_types(Problem problem) {
  problem.op_types = problem.op_names;
  return problem;
}

constexpr const char* small =
    "hidden = 8\ntype_width = 4\nheads = 2\nfeedforward = 8\ngraph_layers = 1\nplacer_layers = 1";

std::unique_ptr<Policy> policy_of(const Problem& p, const std::string& options, std::uint64_t seed = 1) {
  static std::vector<std::unique_ptr<std::vector<PolicyProblem>>> kept;
  kept.push_back(std::make_unique<std::vector<PolicyProblem>>());
  kept.back()->push_back({&p, make_grouping(p, GroupingKind::op)});
  return make_policy("gdp", ConfigTable::parse_toml(options, ""), *kept.back(), seed);
}

TEST(Gdp, StartsNearlyUniform) {
  for (const char* options : {"", "device_head = \"features\"", "superposition = \"graph\"", "rounds = 3"}) {
    const Problem p = with_types(two_chains(1));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto policy = policy_of(p, options, seed);
      Rollout rollout;
      Stream stream{{}};
      const Draw draw{&stream, {&rollout, 1}};
      policy->sample({&draw, 1});
      LogProbabilities log;
      policy->forward({&rollout, 1}, log);
      for (const double value : log.value) EXPECT_NEAR(std::exp(value), 0.5, 0.02) << options;
    }
  }
}

TEST(Gdp, IsADistributionWithTheGradientOfTheExpectedCost) {
  const Problem p =
      with_types(tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}, {"c", {2, 1}}}, {{0, 1}, {0, 2}}, 1));
  Enumerated all("gdp", small, p);
  double sum = 0;
  for (const double q : all.probabilities()) sum += q;
  EXPECT_NEAR(sum, 1, 1e-6);
  all.check_gradient_of_expected_cost({3, 1, 4, 1.5, 2, 6, 5, 3.5});
  all.check_reinforce({3, 1, 4, 1.5, 2, 6, 5, 3.5}, 2.5, 1, 20000);
}

TEST(Gdp, GivesAForbiddenDeviceNoProbabilityAndAFiniteGradient) {
  const Problem p = tiny(plain_devices(3), {{"a", {1, no, 2}}, {"b", {1, 1, 1}}}, {{0, 1}}, 1);
  const auto policy = policy_of(p, small);
  Rollout rollout;
  rollout.actions = {1, 0};
  LogProbabilities log;
  policy->forward({&rollout, 1}, log);
  EXPECT_EQ(log.value[0], -std::numeric_limits<double>::infinity());
  EXPECT_THROW(policy->check({&rollout, 1}), InputError);
  rollout.actions = {2, 0};
  policy->forward({&rollout, 1}, log);
  policy->backward({&rollout, 1}, std::vector<double>{1, 1}, 0.1);
  for (const float g : policy->gradient()) EXPECT_TRUE(std::isfinite(g));
}

TEST(Gdp, DrawsUnitsOfABlockTogetherAtFirstAndAloneInTheEnd) {
  const Problem p = two_chains(1);  // ops of one type, so the first probabilities are nearly the same for all
  const auto policy = policy_of(p, std::string(small) + "\ncoarse_units = 2\nupdates_per_level = 10");
  const auto splits = [&](std::uint64_t update) {  // how often one of a pair of ops in a chain is apart
    int count = 0;
    for (std::uint32_t sample = 0; sample < 200; ++sample) {
      Rollout rollout;
      rollout.update = update;
      Stream stream{{.seed = 1, .purpose = Purpose::test, .update = update, .index = sample}};
      const Draw draw{&stream, {&rollout, 1}};
      policy->sample({&draw, 1});
      const auto& device = rollout.placement.device;
      for (const std::size_t op : {0, 1, 2, 4, 5, 6}) count += device[op] != device[op + 1];
    }
    return count;
  };
  // 1200 pairs; halves of a chain are drawn apart in the second level, which is one of its three pairs.
  EXPECT_LT(splits(1), 30);
  EXPECT_LT(splits(10), 30);
  EXPECT_NEAR(splits(11), 200, 50);
  EXPECT_NEAR(splits(21), 600, 80);
  EXPECT_NEAR(splits(std::uint64_t{1} << 55), 600, 80);
}

TEST(Gdp, DrawsBlocksOfAllSizesInTurnWhereNoTrainingFollows) {
  const Problem p = two_chains(1);
  const PolicyProblem problem(&p, make_grouping(p, GroupingKind::op));
  const std::vector<std::string> types = op_types_of({&problem, 1});
  const auto drawn_apart = [&](int coarse_units, std::uint32_t sample,
                               bool only_places = true) {  // of 200 draws, those on several devices
    const auto options =
        ConfigTable::parse_toml(std::string(small) + "\ncoarse_units = " + std::to_string(coarse_units), "test");
    const auto policy = find_entry(policies(), "gdp", "policy")
                            .make(options, {{&problem, 1}, types, 1, /*is_trained=*/true, only_places});
    int count = 0;
    for (std::uint32_t draw_number = 0; draw_number < 200; ++draw_number) {
      Rollout rollout;
      rollout.update = 1;
      rollout.sample = sample;
      Stream stream{{.seed = 1, .purpose = Purpose::test, .update = sample, .index = draw_number}};
      const Draw draw{&stream, {&rollout, 1}};
      policy->sample({&draw, 1});
      count += std::ranges::count(rollout.placement.device, rollout.placement.device[0]) !=
               static_cast<std::ptrdiff_t>(p.op_count());
    }
    return count;
  };
  // Levels of 1, 2, 4 and 8 blocks, the second one first in update 1: two chains of equal ops, each in one piece.
  EXPECT_NEAR(drawn_apart(2, 0), 100, 30);
  EXPECT_GT(drawn_apart(2, 2), 180);
  EXPECT_LT(drawn_apart(2, 3), 30);
  EXPECT_NEAR(drawn_apart(2, 4), 100, 30);
  EXPECT_GT(drawn_apart(0, 3), 180) << "every unit alone";
  for (const std::uint32_t sample : {2U, 3U})
    EXPECT_NEAR(drawn_apart(2, sample, false), 100, 30) << "a training that goes on begins with the coarsest level";
}

TEST(Gdp, PlacesGraphsOfOneNodeOfNodesWithoutEdgesAndOfTensorsWithoutBytes) {
  const Problem graphs[] = {tiny(plain_devices(2), {{"a", {1, 2}}}, {}, 1),
                            tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 2}}, {"c", {1, 2}}}, {}, 1),
                            tiny(plain_devices(2), {{"a", {1, 2}, "", 0, 0}, {"b", {1, 2}, "", 0, 0}}, {{0, 1}}, 0),
                            tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}}, {{0, 1}}, 1)};
  for (const Problem& p : graphs)
    for (const char* more :
         {"", "\nrounds = 2\ndevice_head = \"features\"\ncost_features = true\nposition_waves = 2"}) {
      const auto policy = policy_of(p, std::string(small) + more);
      Rollout rollout;
      Stream stream{{}};
      const Draw draw{&stream, {&rollout, 1}};
      policy->sample({&draw, 1});
      check_placement(p, rollout.placement);
      LogProbabilities log;
      policy->forward({&rollout, 1}, log);
      policy->backward({&rollout, 1}, std::vector<double>(log.value.size(), 1.0), 0.1);
      for (const float g : policy->gradient()) EXPECT_TRUE(std::isfinite(g));
    }
}

TEST(Gdp, WantsAsManyDevicesEverywhereUnlessTheyHaveFeatures) {
  const Problem two = chain_5(2), three = tiny(plain_devices(3), {{"x", {1, 1, 1}}}, {}, 1);
  const std::vector<PolicyProblem> list = {{&two, make_grouping(two, GroupingKind::op)},
                                           {&three, make_grouping(three, GroupingKind::op)}};
  try {
    make_policy("gdp", ConfigTable::parse_toml(small, ""), list, 1);
    FAIL() << "it took them";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'tiny' has 2 and 'tiny' has 3"));
  }
  const std::string featured = std::string(small) + "\ndevice_head = \"features\"";
  const auto policy = make_policy("gdp", ConfigTable::parse_toml(featured, ""), list, 1);
  for (std::uint32_t p = 0; p < 2; ++p) {
    Rollout rollout;
    rollout.problem = p;
    Stream stream{{}};
    const Draw draw{&stream, {&rollout, 1}};
    policy->sample({&draw, 1});
    check_placement(*list[p].problem, rollout.placement);
  }
}

TEST(Gdp, ReadsHowFarOffTheFirstPredecessorsStand) {
  const Problem p =
      tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}, {"c", {1}}, {"d", {1}}}, {{0, 3}, {1, 3}, {0, 2}}, 1);
  const PolicyProblem problem{&p, make_grouping(p, GroupingKind::op)};
  const GdpFeatures features = gdp_features(problem, std::vector<std::string>{""}, {});
  const auto row = std::span(features.rows).subspan(3 * 9 + gdp_dimensions, gdp_predecessors);
  EXPECT_THAT(row, ::testing::ElementsAre(-0.75F, -0.5F, 0, 0, 0));
  EXPECT_THAT(features.neighbours[0], ::testing::ElementsAre(2, 3));
  EXPECT_THAT(features.neighbours[3], ::testing::ElementsAre(0, 1));
}

TEST(Gdp, ReadsTheLastDimensionsOfTheFirstOutput) {
  const Problem p = tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}}, {}, 1);
  OutputShapes shapes;
  shapes.add_op();
  shapes.add_output(std::vector<std::int64_t>{7, 3});
  shapes.add_output(std::vector<std::int64_t>{1});
  shapes.add_op();
  shapes.add_output(std::vector<std::int64_t>{9, 1, 2, 3, 4});
  const PolicyProblem problem{&p, make_grouping(p, GroupingKind::op), shapes};
  GdpFeatureOptions options;
  options.neighbours = false;
  const std::vector<float> rows = gdp_features(problem, {}, options).rows;
  const auto log1p = [](double x) { return static_cast<float>(std::log1p(x)); };
  EXPECT_THAT(rows, ::testing::ElementsAre(0, 0, log1p(7), log1p(3), log1p(1), log1p(2), log1p(3), log1p(4)));
}

TEST(Gdp, ReadsTimesBesideTheMeanOnEachKindOfDevice) {
  std::vector<Device> devices = {{"cpu:0", "cpu", no_memory_limit}, {"gpu:0", "gpu", no_memory_limit}};
  const Problem p = tiny(devices, {{"a", {4, 1}}, {"b", {12, no}}}, {}, 1);
  const PolicyProblem problem{&p, make_grouping(p, GroupingKind::op)};
  EXPECT_THAT(device_kinds_of({&problem, 1}), ::testing::ElementsAre("cpu", "gpu"));
  const std::vector<float> rows = gdp_features(problem, {}, {.neighbours = false, .kinds = {"cpu", "gpu", "tpu"}}).rows;
  EXPECT_FLOAT_EQ(rows[4], std::log(0.5F));
  EXPECT_FLOAT_EQ(rows[5], 0);  // the only one that runs there
  EXPECT_FLOAT_EQ(rows[7 + 4], std::log(1.5F));
  EXPECT_FLOAT_EQ(rows[7 + 5], 0);
  EXPECT_FLOAT_EQ(rows[6], 0);  // no such device
}

TEST(Gdp, NamesAFeatureThatIsNotFinite) {
  const Problem p = chain_5(2);
  const PolicyProblem problem{&p, make_grouping(p, GroupingKind::op)};
  std::vector<float> rows(10, 1.0F);
  check_features(problem, "shape", rows, 2, 1, 1);
  rows[5] = std::nanf("");
  try {
    check_features(problem, "shape", rows, 2, 1, 1);
    FAIL() << "it took it";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("problem tiny: op 'c' has a shape feature of nan"));
  }
}

TEST(Gdp, RefusesOptionsThatDoNotGoTogether) {
  const Problem p = chain_5(2);
  EXPECT_THROW(policy_of(p, "hidden = 8\nheads = 3"), InputError);
  EXPECT_THROW(policy_of(p, "device_kinds = [\"gpu\"]"), InputError);
}

}  // namespace
}  // namespace emplace
