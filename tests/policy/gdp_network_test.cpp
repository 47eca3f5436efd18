// GDP's network (docs/papers/gdp.md, section 7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "policy/gdp/features.hpp"
#include "policy/gdp/network.hpp"
#include "tests/policy/network_check.hpp"

namespace emplace::policy::gdp_network_test {
namespace {

using namespace test;

// A network small enough to check every parameter.
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

// A network's input for `n` nodes, in double.
struct Graph {
  Graph(std::size_t n, const GdpSizes& sizes, std::vector<std::vector<std::uint32_t>> adjacent)
      : nodes(n),
        features(random_doubles(n * sizes.features, 2, 1)),
        decisions(random_doubles(n * sizes.decision, 3, 1)),
        devices(random_doubles(3 * sizes.device_features, 4, 1)),
        pairs(random_doubles(n * 3 * sizes.pair_features, 5, 1)),
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
    return gdp_network<T>(tape, network,
                          {&types, matrix(features, nodes), matrix(decisions, nodes), &neighbours, &all,
                           matrix(devices, 3), matrix(pairs, nodes)});
  }

  std::size_t nodes;
  std::vector<double> features, decisions, devices, pairs;
  Lists types, neighbours, all;
};

Graph five_nodes(const GdpSizes& sizes) { return {5, sizes, {{1, 2}, {0}, {0, 3}, {2}, {}}}; }

TEST(GdpNetwork, HasTheParametersOfItsPage) {
  // Type 320, input 41 x 128 + 128 = 5,376, encoder 4 x 49,408, placer 3 x 197,760, conditioner 197,760, head 258.
  GdpSizes sizes;
  sizes.types = 10;
  sizes.features = gdp_feature_count({});
  sizes.devices = 2;
  EXPECT_EQ(sizes.type_width + sizes.features, 41U);
  EXPECT_EQ(GdpNetwork(sizes).layout.size(), 994'626U);
  // GO's scheduling head: 128 x 16 + 16.
  sizes.priority_levels = 16;
  EXPECT_EQ(GdpNetwork(sizes).layout.size(), 994'626U + 2'064U);
}

TEST(GdpNetwork, HasRightGradientsWithAndWithoutEachOfItsParts) {
  const auto check = [](const char* what, auto&& change) {
    SCOPED_TRACE(what);
    GdpSizes sizes = small_sizes();
    change(sizes);
    const GdpNetwork network(sizes);
    const Graph graph = five_nodes(sizes);
    const auto logits_of_all_heads = [&]<class T>(nn::Tape<T>& tape) {
      const GdpResult result = graph(tape, network);
      if (result.priorities.is_none()) return result.logits;
      const nn::Var both[] = {result.logits, result.priorities};
      return nn::concat_columns<T>(tape, both);
    };
    check_network(network.layout.size(), logits_of_all_heads, 1e-5);
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
  check("with features of nodes on devices", [](GdpSizes& s) {
    s.device_features = 2;
    s.pair_features = 2;
  });
  check("with priority levels", [](GdpSizes& s) { s.priority_levels = 4; });
  check("with all of GO", [](GdpSizes& s) {
    s.priority_levels = 4;
    s.decision = 7;
    s.superposition = Superposition::graph;
  });
}

std::vector<double> some_parameters(const GdpNetwork& network) { return random_doubles(network.layout.size(), 1, 0.5); }

nn::Matrix<const double> logits_of(nn::Tape<double>& tape, const GdpNetwork& network, const Graph& graph,
                                   std::span<const double> parameters) {
  tape.begin(parameters, {});
  return tape.value(graph(tape, network).logits);
}

TEST(GdpNetwork, GivesRenumberedNodesTheSameLogits) {
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

// Nodes without edges, each of its own type, so that the gradient of the type table shows which nodes a gradient
// reaches.
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

TEST(GdpNetwork, ReadsTheSegmentBeforeButSendsNoGradientThere) {
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

  // The second segment does read the first, whose types change its logits.
  const Graph graph(6, two.sizes, std::vector<std::vector<std::uint32_t>>(6));
  nn::Tape<double> tape, moved_tape;
  const auto before = logits_of(tape, network, graph, parameters);
  std::vector<double> moved = parameters;
  moved[table.begin] += 0.5;
  const auto after = logits_of(moved_tape, network, graph, moved);
  EXPECT_GT(std::abs(before(4, 0) - after(4, 0)), 1e-6);
}

TEST(GdpNetwork, ForgetsTheSegmentBeforeWithoutMemoryAndSeesAllInASegmentOfAll) {
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

// Node 4 has no neighbours: only attention takes its features to other nodes.
TEST(GdpNetwork, PlacesEachNodeByItsOwnEmbeddingWithoutAttention) {
  for (const Superposition gates : {Superposition::none, Superposition::per_node}) {
    for (const bool attention : {true, false}) {
      GdpSizes sizes = small_sizes();
      sizes.superposition = gates;
      sizes.attention = attention;
      const GdpNetwork network(sizes);
      const std::vector<double> parameters = some_parameters(network);
      const auto first_logits = [&](double feature) {
        Graph graph = five_nodes(sizes);
        graph.features[4 * sizes.features] = feature;
        nn::Tape<double> tape;
        const nn::Matrix<const double> logits = logits_of(tape, network, graph, parameters);
        return std::vector<double>(logits.row(0).begin(), logits.row(0).end());
      };
      EXPECT_EQ(first_logits(1) == first_logits(-1), !attention);
    }
  }
}

TEST(GdpNetwork, IsNotGatedWhereTheConditionerIsZero) {
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

TEST(GdpNetwork, HasOneGateForTheWholeGraphOrOneForEachNodeThatStartsNearOne) {
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

}  // namespace
}  // namespace emplace::policy::gdp_network_test
