// HSDAG's network (docs/papers/hsdag.md, sections 2.3, 7.1, 7.6 and 7.7), compared with loops that follow section 2.3
// literally.
#include "policy/hsdag/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/policy/hsdag_loops.hpp"
#include "tests/policy/network_check.hpp"

namespace emplace::policy::hsdag_network_test {
namespace {

using namespace test;
using Ends = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

constexpr HsdagEncoder encoders[] = {HsdagEncoder::gcn, HsdagEncoder::gat, HsdagEncoder::gin};

std::map<std::string, std::size_t> parts_of(std::size_t features, std::size_t devices) {
  std::map<std::string, std::size_t> parts;
  const HsdagNetwork network({.features = features, .devices = devices});
  for (const nn::ParameterLayout::Info& info : network.layout().infos())
    parts[info.name.substr(0, info.name.find('.'))] += info.slice.size();
  return parts;
}

TEST(HsdagNetwork, HasThePapersParameters) {
  const auto parts = parts_of(17, 2);
  EXPECT_EQ(parts.at("in"), 19328U);
  EXPECT_EQ(parts.at("gnn1"), 33280U);
  EXPECT_EQ(parts.at("edge"), 16897U);
  EXPECT_EQ(parts.at("gnn2"), 16768U);
  EXPECT_EQ(parts.at("pre") + parts.at("post"), 33536U);
  EXPECT_EQ(parts.at("out"), 18705U);
  EXPECT_EQ(parts.at("head"), 2562U);
  for (const std::size_t features : {17, 18, 60, 300})
    EXPECT_EQ(HsdagNetwork({.features = features, .devices = 2}).layout().size(), 141076 + 385 * (features - 17));
}

TEST(HsdagNetwork, HasTheParametersOfItsEncoders) {
  // In 3 layers: attention 128 x 2; the first of a graph isomorphism layer's two, 128 x 128 and 128.
  const auto count = [](HsdagEncoder encoder) {
    return HsdagNetwork({.features = 17, .devices = 2, .encoder = encoder}).layout().size();
  };
  EXPECT_EQ(count(HsdagEncoder::gcn), 141076U);
  EXPECT_EQ(count(HsdagEncoder::gat), 141076U + 3 * 256);
  EXPECT_EQ(count(HsdagEncoder::gin), 141076U + 3 * (128 * 128 + 128));
}

void expect_start(HsdagEncoder encoder, std::uint64_t seed) {
  const HsdagNetwork network({.features = 60, .devices = 2, .encoder = encoder});
  std::vector<double> values(network.layout().size());
  network.layout().initialize<double>(values, seed);
  for (const nn::ParameterLayout::Info& info : network.layout().infos()) {
    double largest = 0;
    for (const double value : std::span(values).subspan(info.slice.begin, info.slice.size()))
      largest = std::max(largest, std::abs(value));
    const auto is = [&](const char* part) { return info.name.find(part) != std::string::npos; };
    double bound = 1 / std::sqrt(is("in.0") || is("head.0") ? 60.0 : 128.0);
    if (is("gnn") && encoder != HsdagEncoder::gin) bound = is("bias") ? 0 : std::sqrt(6.0 / 256);  // Glorot
    if (is("attention")) bound = std::sqrt(6.0 / 129);                                             // Glorot of 128 x 1
    if (is("norm")) bound = is("gain") ? 1 : 0;
    EXPECT_LE(largest, bound) << info.name;
    EXPECT_GE(largest, (info.slice.size() < 10 ? 0.1 : 0.9) * bound) << info.name;
  }
}

TEST(HsdagNetwork, StartsAsItsPageSays) {
  expect_start(HsdagEncoder::gcn, 1);
  expect_start(HsdagEncoder::gat, 2);
  expect_start(HsdagEncoder::gin, 2);
}

struct Fixture {
  explicit Fixture(std::size_t nodes, Ends ends, HsdagSizes sizes = {.features = 5, .hidden = 6, .devices = 3})
      : network(sizes) {
    make_graph(nodes, ends, graph);
    values = random_doubles(network.layout().size(), 1, 0.5);
    features = random_doubles(nodes * sizes.features, 2, 1);
  }

  // Z and logits; parses the graph if no assignments are given.
  template <class T>
  std::pair<std::vector<T>, std::vector<T>> run(std::span<const T> with, int passes) {
    nn::Tape<T> tape;
    tape.begin(with, {});
    const auto result = put(tape, passes, {});
    const auto z = tape.value(result.embedding).all(), logits = tape.value(result.logits).all();
    return {{z.begin(), z.end()}, {logits.begin(), logits.end()}};
  }
  template <class T>
  typename HsdagPass<T>::Result put(nn::Tape<T>& tape, int passes, const nn::Dropout& dropout) {
    const nn::Matrix<T> x = tape.matrix(graph.nodes, network.sizes().features);
    std::ranges::copy(features, x.data);
    HsdagPass<T> pass(tape, network, x, dropout);
    pool_parsed(pass, graph, passes, levels,
                [&](std::size_t level, const NodeGraph& now, nn::Var s, Clusters& clusters) {
                  if (level < assignments.size()) {
                    clusters.of_node = assignments[level];
                    complete(now, std::ranges::max(clusters.of_node) + 1U, clusters);
                  } else {
                    parse<T>(now, tape.value(s).all(), clusters);
                  }
                });
    return pass.finish();
  }
  // Parsed assignments are stored.
  void keep() {
    assignments.clear();
    for (std::size_t level = 0; level < levels.count; ++level) assignments.push_back(levels.clusters[level].of_node);
  }

  HsdagNetwork network;
  NodeGraph graph;
  std::vector<double> values, features;
  HsdagLevels levels;
  std::vector<std::vector<std::uint32_t>> assignments;
};

Ends random_edges(std::uint32_t nodes, std::size_t count, std::uint64_t seed) {
  Stream random{{.seed = seed}};
  Ends ends;
  for (; count > 0; --count) ends.emplace_back(random.below(nodes), random.below(nodes));
  return ends;
}

void expect_as_in_loops(HsdagEncoder encoder) {
  for (const int passes : {1, 2, 3})
    for (const std::uint32_t nodes : {1, 2, 7, 30}) {
      Fixture f(nodes, random_edges(nodes, nodes, passes + nodes),
                {.features = 5, .hidden = 6, .devices = 3, .encoder = encoder});
      const auto [z, logits] = f.run<double>(f.values, passes);
      f.keep();
      EXPECT_EQ(f.levels.count > 0, f.graph.edges() > 0);
      Table x;
      for (std::size_t v = 0; v < nodes; ++v)
        x.emplace_back(f.features.begin() + static_cast<std::ptrdiff_t>(5 * v),
                       f.features.begin() + static_cast<std::ptrdiff_t>(5 * v + 5));
      std::vector<std::vector<double>> scores;
      const auto [wanted_z, wanted] = HsdagLoops{f.network, f.values}.run(x, f.graph, f.assignments, scores);
      ASSERT_EQ(z.size(), wanted_z.size() * 5);
      for (std::size_t i = 0; i < z.size(); ++i) {
        EXPECT_NEAR(z[i], wanted_z[i / 5][i % 5], 1e-11);
        EXPECT_GE(z[i], 0) << "out_trans ends in a relu";
      }
      for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], wanted[i / 3][i % 3], 1e-11);
      // The clusters are the parse of these scores.
      const NodeGraph* now = &f.graph;
      for (std::size_t level = 0; level < f.levels.count; ++level) {
        Clusters clusters;
        parse<double>(*now, scores[level], clusters);
        EXPECT_EQ(clusters.of_node, f.assignments[level]);
        now = &f.levels.coarser[level];
      }
      EXPECT_EQ(f.levels.cluster_count, wanted.size());
    }
}

TEST(HsdagNetwork, ComputesWhatItsPageSays) { expect_as_in_loops(HsdagEncoder::gcn); }
TEST(HsdagNetwork, ComputesGraphAttentionAsItsPaperHasIt) { expect_as_in_loops(HsdagEncoder::gat); }
TEST(HsdagNetwork, ComputesGraphIsomorphismLayersAsTheirPaperHasThem) { expect_as_in_loops(HsdagEncoder::gin); }

// With the assignment held fixed, because a finite step could change it.
void expect_right_gradients(Fixture f, int passes, double rate) {
  f.run<double>(f.values, passes);
  f.keep();
  check_network(
      f.values.size(),
      [&]<class T>(nn::Tape<T>& tape) {
        Stream masks({.seed = 4, .purpose = Purpose::dropout});
        return f.put(tape, passes, {rate, &masks}).logits;
      },
      1e-6);
}

TEST(HsdagNetwork, HasRightGradients) {
  expect_right_gradients(Fixture(9, random_edges(9, 10, 1)), 1, 0);
  expect_right_gradients(Fixture(1, {}), 1, 0);
}
TEST(HsdagNetwork, HasRightGradientsWithDropoutAndThroughSeveralPasses) {
  expect_right_gradients(Fixture(30, random_edges(30, 34, 2), {.features = 5, .hidden = 12, .devices = 3}), 2, 0.2);
}

TEST(HsdagNetwork, HasRightGradientsOfEachEncoder) {
  for (const HsdagEncoder encoder : {HsdagEncoder::gat, HsdagEncoder::gin}) {
    const HsdagSizes sizes{.features = 5, .hidden = 12, .devices = 3, .encoder = encoder};
    expect_right_gradients(Fixture(9, random_edges(9, 10, 1), sizes), 1, 0);
    expect_right_gradients(Fixture(1, {}, sizes), 1, 0);
    expect_right_gradients(Fixture(30, random_edges(30, 34, 2), sizes), 2, 0.2);
  }
}

TEST(HsdagNetwork, TeachesEdgeScoresThroughTheWeightsOfClustersAlone) {
  for (const bool joined : {true, false}) {
    Fixture f(4, {{0, 1}, {2, 3}});
    if (!joined) f.assignments = {{0, 1, 2, 3}};  // no edge is within a cluster
    std::vector<double> gradient(f.values.size(), 0);
    nn::Tape<double> tape;
    tape.begin(f.values, gradient);
    const nn::Var logits = f.put(tape, 1, {}).logits;
    tape.gradient(logits).data[0] = 1;
    tape.backward();
    double edge = 0, gnn1 = 0;
    for (const nn::ParameterLayout::Info& info : f.network.layout().infos())
      for (const double g : std::span(gradient).subspan(info.slice.begin, info.slice.size())) {
        if (info.name.starts_with("edge")) edge += std::abs(g);
        if (info.name.starts_with("gnn1")) gnn1 += std::abs(g);
      }
    EXPECT_EQ(edge > 0, joined);
    EXPECT_EQ(gnn1 > 0, joined);
  }
}

void expect_no_order(HsdagEncoder encoder) {
  constexpr std::uint32_t nodes = 12;
  const Ends ends = random_edges(nodes, 14, 8);
  const HsdagSizes sizes{.features = 5, .hidden = 6, .devices = 3, .encoder = encoder};
  Fixture one(nodes, ends, sizes);
  one.run<double>(one.values, 1);
  std::vector<std::uint32_t> moved(nodes);
  for (std::uint32_t v = 0; v < nodes; ++v) moved[v] = (v * 5 + 3) % nodes;
  Ends moved_ends;
  for (const auto& [a, b] : ends) moved_ends.emplace_back(moved[a], moved[b]);
  Fixture two(nodes, moved_ends, sizes);
  for (std::uint32_t v = 0; v < nodes; ++v)
    std::copy_n(one.features.begin() + v * 5, 5, two.features.begin() + moved[v] * 5);
  const auto a = one.run<double>(one.values, 1).second, b = two.run<double>(two.values, 1).second;
  for (std::uint32_t v = 0; v < nodes; ++v)
    for (std::size_t d = 0; d < 3; ++d)
      EXPECT_NEAR(a[one.levels.cluster_of_node[v] * 3 + d], b[two.levels.cluster_of_node[moved[v]] * 3 + d], 1e-11);
}

TEST(HsdagNetwork, DoesNotDependOnTheOrderOfNodes) {
  for (const HsdagEncoder encoder : encoders) expect_no_order(encoder);
}

TEST(HsdagNetwork, LeavesOutTheLayersOfOtherWaysToGroup) {
  const auto names = [](const HsdagSizes& sizes) {
    std::string all;
    const HsdagNetwork network(sizes);
    for (const auto& info : network.layout().infos()) all += info.name + " ";
    return all;
  };
  const std::string none = names({.features = 5, .devices = 2, .scores_edges = false});
  EXPECT_EQ(none.find("gnn1"), std::string::npos);
  EXPECT_EQ(none.find("edge"), std::string::npos);
  const std::string learned = names({.features = 5, .devices = 2, .scores_edges = false, .groups = 4});
  EXPECT_NE(learned.find("gnn1"), std::string::npos);
  EXPECT_NE(learned.find("group.weight"), std::string::npos);
}

}  // namespace
}  // namespace emplace::policy::hsdag_network_test
