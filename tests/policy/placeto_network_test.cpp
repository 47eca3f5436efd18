// Placeto's network (docs/papers/placeto.md, section 7, items 1, 3, 5 and 7), compared with loops that follow section
// 2.3 literally.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "policy/placeto/network.hpp"
#include "tests/policy/network_check.hpp"
#include "tests/policy/placeto_graphs.hpp"
#include "tests/policy/placeto_loops.hpp"

namespace emplace::policy::placeto_network_test {
namespace {

using namespace test;

struct Fixture {
  explicit Fixture(const Problem& problem, const PlacetoShape& shape, std::vector<std::uint32_t> visited,
                   std::uint64_t seed = 1)
      : list{by_op(problem)}, graph(placeto_graph(list.front(), false, any_stream())), parameters(shape) {
    values.resize(parameters.layout().size());
    parameters.layout().initialize<double>(values, seed);
    Stream random({.seed = seed + 100});
    for (double& value : values)  // biases too
      if (value == 0) value = 0.2 * random.uniform() - 0.1;
    states.resize(visited.size() * graph.count() * shape.features);
    for (float& value : states) value = static_cast<float>(random.uniform());
    fill_placeto_block(graph, list.front().grouping, visited, shape.position_waves, block);
  }

  template <class T>
  std::vector<T> logits(std::span<const T> with) {
    const std::vector<T> input(states.begin(), states.end());
    nn::Tape<T> tape;
    tape.begin(with, {});
    const nn::Matrix<const T> x{input.data(), block.states * graph.count(), parameters.shape().features};
    const PlacetoVars vars = placeto_network<T>(tape, parameters, x, block);
    const auto out = tape.value(vars.logits).all();
    const auto h = tape.value(vars.embedding).all();
    embedding.assign(h.begin(), h.end());
    return {out.begin(), out.end()};
  }
  std::vector<double> logits() { return logits<double>(values); }

  std::vector<PolicyProblem> list;
  PlacetoGraph graph;
  PlacetoParameters parameters;
  std::vector<double> values;
  std::vector<float> states;
  PlacetoBlock block;
  std::vector<double> embedding;  // of the last logits()
};

TEST(PlacetoNetwork, HasThePapersParameters) {
  const auto count = [](std::size_t devices, bool small = false) {
    return PlacetoParameters({placeto_features(devices, false), devices, 8, small}).layout().size();
  };
  EXPECT_EQ(count(2), 15962U);
  EXPECT_EQ(count(3), 20827U);
  EXPECT_EQ(count(4), 26338U);
  EXPECT_EQ(count(8), 54842U);
  EXPECT_EQ(count(2, true), 4902U);
  EXPECT_EQ(placeto_features(2, true), 8U);

  std::map<std::string, std::size_t> parts;
  const PlacetoParameters two({placeto_features(2, false), 2});
  for (const nn::ParameterLayout::Info& info : two.layout().infos())
    parts[info.name.substr(0, info.name.find('.'))] += info.slice.size();
  EXPECT_EQ(parts["node"], 168U);
  EXPECT_EQ(parts["from_parents"] + parts["from_children"], 448U);
  EXPECT_EQ(parts["ancestors"] + parts["descendants"] + parts["rest"], 2520U);
  EXPECT_EQ(parts["classifier"], 12826U);
}

TEST(PlacetoNetwork, ComputesWhatItsPageSays) {
  for (const auto& [small, normalize, waves] :
       {std::tuple(false, false, 0U), {true, false, 3U}, {false, true, 3U}, {true, true, 0U}})
    for (const std::size_t ops : {1, 2, 9}) {
      const Problem problem = random_graph(ops, 3, 7 * ops);
      std::vector<std::uint32_t> visited;
      for (std::uint32_t unit = 0; unit < ops; ++unit) visited.push_back(unit);
      visited.push_back(0);
      Fixture f(problem, {placeto_features(3, false), 3, 4, small, normalize, waves}, visited);
      const std::vector<double> logits = f.logits();
      const Loops loops{f.parameters, f.graph, f.values};
      const std::size_t state = f.graph.count() * f.parameters.shape().features;
      for (std::size_t b = 0; b < visited.size(); ++b) {
        const Row wanted = loops.logits(std::span(f.states).subspan(b * state, state), visited[b]);
        for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(logits[b * 3 + d], wanted[d], waves > 0 ? 1e-6 : 1e-11);
      }
    }
}

void expect_right_gradients(const PlacetoShape& shape) {
  const Problem problem = random_graph(7, shape.devices, 5);
  Fixture f(problem, shape, {0, 3, 6});
  check_network(
      f.values.size(),
      [&]<class T>(nn::Tape<T>& tape) {
        const nn::Matrix<T> x = tape.matrix(f.block.states * f.graph.count(), shape.features);
        std::ranges::copy(f.states, x.data);
        return placeto_network<T>(tape, f.parameters, x, f.block).logits;
      },
      1e-6);
}

TEST(PlacetoNetwork, HasRightGradients) { expect_right_gradients({placeto_features(2, false), 2, 3}); }
TEST(PlacetoNetwork, HasRightGradientsWhereItIsSmallAndReadsMemory) {
  expect_right_gradients({placeto_features(3, true), 3, 2, true});
}
TEST(PlacetoNetwork, HasRightGradientsWithMeansAndPositions) {
  expect_right_gradients({placeto_features(2, false), 2, 3, false, true, 2});
}

TEST(PlacetoNetwork, IsTheSameInFloatAsInDouble) {
  const Problem problem = random_graph(30, 4, 5);
  Fixture f(problem, {placeto_features(4, false), 4, 8}, {0, 10, 29});
  const std::vector<double> wanted = f.logits();
  const std::vector<float> values(f.values.begin(), f.values.end());
  const std::vector<float> got = f.logits<float>(values);
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-4 * largest);
}

// On a path messages travel one edge a round: the forward half of h_v depends on v and its k nearest ancestors.
TEST(PlacetoNetwork, ReachesAsFarAsItHasMessageRounds) {
  constexpr std::uint32_t length = 9;
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::uint32_t op = 0; op < length; ++op) {
    ops.push_back({std::to_string(op), {1, 1}});
    if (op > 0) edges.push_back({op - 1, op});
  }
  const Problem problem = tiny(plain_devices(2), ops, edges);
  for (const int rounds : {0, 1, 3}) {
    const PlacetoShape shape{placeto_features(2, false), 2, rounds};
    Fixture f(problem, shape, {0});
    for (double& value : f.values) value = std::abs(value);  // so that no relu is off
    f.logits();
    const std::vector<double> before = f.embedding;
    const std::size_t d = shape.features;
    constexpr std::uint32_t changed = 4;
    for (std::size_t j = 0; j < d; ++j) f.states[changed * d + j] += 1;
    f.logits();
    for (std::uint32_t v = 0; v < length; ++v) {
      const auto half_differs = [&](std::size_t half) {
        return !std::equal(before.begin() + static_cast<std::ptrdiff_t>(v * 2 * d + half * d),
                           before.begin() + static_cast<std::ptrdiff_t>(v * 2 * d + half * d + d),
                           f.embedding.begin() + static_cast<std::ptrdiff_t>(v * 2 * d + half * d));
      };
      const int after = static_cast<int>(v) - static_cast<int>(changed);
      EXPECT_EQ(half_differs(0), after >= 0 && after <= rounds) << "rounds " << rounds << ", unit " << v;
      EXPECT_EQ(half_differs(1), after <= 0 && -after <= rounds) << "rounds " << rounds << ", unit " << v;
    }
  }
}

// A source has an empty sum of parents, so its forward y is x for any parameters of the messages.
TEST(PlacetoNetwork, LeavesASourceAsItIs) {
  const Problem problem = chain_5(2);
  const PlacetoShape shape{placeto_features(2, false), 2, 8};
  Fixture f(problem, shape, {2});
  f.logits();
  const std::vector<double> before = f.embedding;
  for (const PlacetoParameters::Fnn& layers : {f.parameters.from_parents.before, f.parameters.from_parents.after})
    for (const nn::Slice& slice : layers.biases)
      for (std::size_t i = 0; i < slice.size(); ++i) f.values[slice.begin + i] += 1;
  f.logits();
  const auto row = [&](const std::vector<double>& h, std::size_t unit) {
    return std::vector<double>(h.begin() + static_cast<std::ptrdiff_t>(unit * 14),
                               h.begin() + static_cast<std::ptrdiff_t>(unit * 14 + 7));
  };
  EXPECT_EQ(row(f.embedding, 0), row(before, 0));
  EXPECT_NE(row(f.embedding, 1), row(before, 1));
}

TEST(PlacetoNetwork, DoesNotDependOnTheNumbersOfUnits) {
  // fork-join with its ops in two orders: s a b t, and b s t a.
  const Problem one = tiny(plain_devices(2), {{"s", {1, 1}}, {"a", {10, 9}}, {"b", {5, 4}}, {"t", {1, 2}}},
                           {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 2);
  const Problem two = tiny(plain_devices(2), {{"b", {5, 4}}, {"s", {1, 1}}, {"t", {1, 2}}, {"a", {10, 9}}},
                           {{1, 3}, {1, 0}, {3, 2}, {0, 2}}, 2);
  const PlacetoShape shape{placeto_features(2, false), 2, 8};
  const PolicyProblem units_of_one = by_op(one), units_of_two = by_op(two);
  const auto unit = [](const PolicyProblem& of, const std::string& name) {
    const auto& names = of.problem->op_names;
    return of.grouping.unit_of_op[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
  };
  for (const char* visited : {"s", "a", "b", "t"}) {
    Fixture f(one, shape, {unit(units_of_one, visited)});
    Fixture g(two, shape, {unit(units_of_two, visited)});
    for (const char* name : {"s", "a", "b", "t"})
      for (std::size_t j = 0; j < shape.features; ++j)
        g.states[unit(units_of_two, name) * shape.features + j] =
            f.states[unit(units_of_one, name) * shape.features + j];
    const std::vector<double> a = f.logits(), b = g.logits();
    for (std::size_t d = 0; d < 2; ++d) EXPECT_NEAR(a[d], b[d], 1e-12);
  }
}

TEST(PlacetoNetwork, TellsDevicesApartByName) {
  // Two equal devices: with both exchanged a placement takes the same time, but it is another state.
  const Problem problem = fork_join(2);
  const std::size_t d = placeto_features(2, false);
  Fixture f(problem, {d, 2, 8}, {1});
  const std::vector<float> no_times(4, 0.0F);
  write_placeto_state(f.graph, 2, false, 1, std::vector<std::uint8_t>{0, 0, 1, 0}, no_times, f.states);
  const std::vector<double> one = f.logits();
  write_placeto_state(f.graph, 2, false, 1, std::vector<std::uint8_t>{1, 1, 0, 1}, no_times, f.states);
  const std::vector<double> exchanged = f.logits();
  EXPECT_GT(std::abs(exchanged[0] - one[0]), 1e-3) << "the logits are not the same";
  EXPECT_GT(std::abs(exchanged[1] - one[0]), 1e-3) << "nor are they exchanged with the devices";
}

}  // namespace
}  // namespace emplace::policy::placeto_network_test
