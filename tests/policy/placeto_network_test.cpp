// Placeto's graph and network (sheet, section 7, items 1 and 3 to 7), beside loops that follow section 2.3 word by
// word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "../../src/policy/placeto_network.hpp"
#include "emplace/base/error.hpp"
#include "problem/tiny.hpp"

namespace emplace {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Stream any_stream() { return Stream({.seed = 1}); }

PolicyProblem by_op(const Problem& problem) { return {&problem, make_grouping(problem, GroupingKind::op)}; }

// A random graph with edges from smaller to larger ids, devices equal.
Problem random_graph(std::size_t ops, std::size_t devices, std::uint64_t seed) {
  Stream random({.seed = seed});
  std::vector<TinyOp> list;
  std::vector<TinyEdge> edges;
  for (std::size_t op = 0; op < ops; ++op) {
    list.push_back({std::to_string(op), std::vector<double>(devices, 1 + random.below(9)), "", random.below(5),
                    1 + random.below(9)});
    for (std::size_t before = 0; before < op; ++before)
      if (random.below(3) == 0) edges.push_back({before, op});
  }
  return tiny(plain_devices(devices), list, edges, 1);
}

// ---- Section 2.3 in loops

using Row = std::vector<double>;

struct Loops {
  const PlacetoParameters& p;
  const PlacetoGraph& graph;
  const std::vector<double>& values;

  [[nodiscard]] Row fnn(const PlacetoParameters::Fnn& layers, Row x, bool relu_at_the_end) const {
    for (std::size_t l = 0; l < layers.weights.size(); ++l) {
      const nn::Slice w = layers.weights[l], b = layers.biases[l];
      Row y(w.columns);
      for (std::size_t j = 0; j < w.columns; ++j) {
        y[j] = values[b.begin + j];
        for (std::size_t i = 0; i < w.rows; ++i) y[j] += x[i] * values[w.begin + i * w.columns + j];
        if (relu_at_the_end || l + 1 < layers.weights.size()) y[j] = std::max(0.0, y[j]);
      }
      x = std::move(y);
    }
    return x;
  }

  // relu(g(sum over the set of relu(f(x_u)))), the sum divided by the size where asked.
  [[nodiscard]] Row gather(const PlacetoParameters::Gather& by, const std::vector<Row>& x,
                           std::span<const std::uint32_t> set, bool normalize) const {
    Row sum(x.front().size(), 0.0);
    for (const std::uint32_t u : set) {
      const Row each = fnn(by.before, x[u], true);
      for (std::size_t j = 0; j < sum.size(); ++j)
        sum[j] += each[j] / (normalize ? static_cast<double>(set.size()) : 1);
    }
    return fnn(by.after, sum, true);
  }

  [[nodiscard]] std::vector<Row> messages(const PlacetoParameters::Gather& by, const std::vector<Row>& x,
                                          const Lists& from) const {
    std::vector<Row> y = x;
    for (int k = 0; k < p.shape().message_rounds; ++k) {
      std::vector<Row> next = x;
      for (std::size_t v = 0; v < x.size(); ++v) {
        if (from[v].empty()) continue;
        const Row message = gather(by, y, from[v], false);
        for (std::size_t j = 0; j < message.size(); ++j) next[v][j] += message[j];
      }
      y = std::move(next);
    }
    return y;
  }

  [[nodiscard]] Row logits(std::span<const float> state, std::uint32_t current) const {
    const std::size_t d = p.shape().features;
    std::vector<Row> x;
    for (std::size_t v = 0; v < graph.count(); ++v)
      x.push_back(fnn(p.node,
                      Row(state.begin() + static_cast<std::ptrdiff_t>(v * d),
                          state.begin() + static_cast<std::ptrdiff_t>((v + 1) * d)),
                      false));
    const auto up = messages(p.from_parents, x, graph.parents);
    const auto down = messages(p.from_children, x, graph.children);
    std::vector<Row> h = up;
    for (std::size_t v = 0; v < h.size(); ++v) h[v].insert(h[v].end(), down[v].begin(), down[v].end());
    Row all;
    const auto append = [&](const Row& row) { all.insert(all.end(), row.begin(), row.end()); };
    const bool normalize = p.shape().normalize;
    append(gather(p.ancestors, h, graph.ancestors[current], normalize));
    append(gather(p.descendants, h, graph.descendants[current], normalize));
    append(gather(p.rest, h, graph.rest[current], normalize));
    append(h[current]);
    for (std::size_t k = 1; k <= p.shape().position_waves; ++k) {
      const double angle =
          std::numbers::pi * static_cast<double>(k) * (current + 0.5) / static_cast<double>(graph.count());
      append({std::sin(angle), std::cos(angle)});
    }
    return fnn(p.classifier, all, false);
  }
};

// ---- The network on random states

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
  std::vector<T> logits(std::span<const T> with, std::span<T> gradient = {}, const std::vector<double>& weights = {}) {
    const std::vector<T> input(states.begin(), states.end());
    nn::Tape<T> tape;
    tape.begin(with, gradient);
    const nn::Matrix<const T> x{input.data(), block.states * graph.count(), parameters.shape().features};
    const PlacetoVars vars = placeto_network<T>(tape, parameters, x, block);
    const auto out = tape.value(vars.logits).all();
    const auto h = tape.value(vars.embedding).all();
    embedding.assign(h.begin(), h.end());
    if (!gradient.empty()) {
      for (std::size_t i = 0; i < weights.size(); ++i) tape.gradient(vars.logits).data[i] += static_cast<T>(weights[i]);
      tape.backward();
    }
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

TEST(PlacetoNetwork, ComputesWhatTheSheetSays) {
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

TEST(PlacetoNetwork, HasTheGradientOfItsLogits) {
  const Problem problem = random_graph(7, 2, 5);
  Fixture f(problem, {placeto_features(2, false), 2, 3, false, false, 2}, {0, 3, 6});
  Stream random({.seed = 9});
  std::vector<double> weights(6);
  for (double& w : weights) w = 2 * random.uniform() - 1;
  std::vector<double> gradient(f.values.size(), 0.0);
  f.logits<double>(f.values, gradient, weights);
  const auto objective = [&](const std::vector<double>& at) {
    const std::vector<double> logits = f.logits<double>(at);
    double sum = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) sum += weights[i] * logits[i];
    return sum;
  };
  for (int direction = 0; direction < 5; ++direction) {
    std::vector<double> up = f.values, down = f.values;
    double expected = 0;
    constexpr double step = 1e-6;
    for (std::size_t i = 0; i < up.size(); ++i) {
      const double along = 2 * random.uniform() - 1;
      up[i] += step * along;
      down[i] -= step * along;
      expected += along * gradient[i];
    }
    EXPECT_NEAR((objective(up) - objective(down)) / (2 * step), expected, 1e-6 * (1 + std::abs(expected)));
  }
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
    for (double& value : f.values) value = std::abs(value);  // no relu is ever off
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

// A source has an empty sum of parents: its forward y is x, whatever the messages' parameters.
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
  // Two equal devices: the placement with both exchanged takes as long, but it is another state.
  const Problem problem = fork_join(2);
  const std::size_t d = placeto_features(2, false);
  Fixture f(problem, {d, 2, 8}, {1});
  const std::vector<float> no_times(4, 0.0F);
  write_placeto_state(f.graph, 2, false, 1, std::vector<std::uint8_t>{0, 0, 1, 0}, no_times, f.states);
  const std::vector<double> one = f.logits();
  write_placeto_state(f.graph, 2, false, 1, std::vector<std::uint8_t>{1, 1, 0, 1}, no_times, f.states);
  const std::vector<double> exchanged = f.logits();
  EXPECT_GT(std::abs(exchanged[0] - one[0]), 1e-3) << "as it was";
  EXPECT_GT(std::abs(exchanged[1] - one[0]), 1e-3) << "nor exchanged with it";
}

// ---- The graph and the state

TEST(PlacetoGraph, PartsTheUnitsIntoRelativesOfEach) {
  EXPECT_TRUE(rc::check("ancestors, descendants, rest and v", [] {
    const auto ops = *rc::gen::inRange<std::size_t>(1, 40);
    const Problem problem = random_graph(ops, 2, *rc::gen::arbitrary<std::uint64_t>());
    const PolicyProblem list = by_op(problem);
    const PlacetoGraph graph = placeto_graph(list, false, any_stream());
    for (std::uint32_t v = 0; v < ops; ++v) {
      std::vector<std::uint32_t> all = {v};
      for (const Lists* set : {&graph.ancestors, &graph.descendants, &graph.rest})
        all.insert(all.end(), (*set)[v].begin(), (*set)[v].end());
      std::ranges::sort(all);
      RC_ASSERT(all.size() == ops);
      for (std::uint32_t u = 0; u < ops; ++u) RC_ASSERT(all[u] == u);
      // A relative of a relative on the same side is one, and the two sides are each other's.
      for (const std::uint32_t u : graph.ancestors[v]) {
        RC_ASSERT(std::ranges::binary_search(graph.descendants[u], v));
        for (const std::uint32_t w : graph.ancestors[u]) RC_ASSERT(std::ranges::binary_search(graph.ancestors[v], w));
      }
      for (const std::uint32_t u : graph.parents[v]) RC_ASSERT(std::ranges::binary_search(graph.ancestors[v], u));
    }
    std::vector<std::size_t> visit(ops);
    for (std::size_t i = 0; i < ops; ++i) visit[graph.order[i]] = i;
    for (std::uint32_t v = 0; v < ops; ++v)
      for (const std::uint32_t u : graph.parents[v]) RC_ASSERT(visit[u] < visit[v]);
  }));
}

TEST(PlacetoGraph, TheOtherArmOfADiamondIsTheRest) {
  const Problem problem = fork_join(2);
  const PolicyProblem list = by_op(problem);
  const PlacetoGraph graph = placeto_graph(list, false, any_stream());
  EXPECT_THAT(graph.rest[1], ElementsAre(2));
  EXPECT_THAT(graph.rest[0], IsEmpty());
  EXPECT_THAT(graph.ancestors[3], ElementsAre(0, 1, 2));
}

TEST(PlacetoGraph, ARandomOrderVisitsEveryUnitOnceAndIsFixedByItsStream) {
  const Problem problem = random_graph(30, 2, 4);
  const PolicyProblem list = by_op(problem);
  const auto order = placeto_graph(list, true, any_stream()).order;
  EXPECT_EQ(order, placeto_graph(list, true, any_stream()).order);
  EXPECT_NE(order, placeto_graph(list, false, any_stream()).order);
  auto sorted = order;
  std::ranges::sort(sorted);
  for (std::uint32_t u = 0; u < 30; ++u) EXPECT_EQ(sorted[u], u);
}

TEST(PlacetoGraph, LeavesOutEdgesBackToAnEarlierUnit) {
  // Group {a, c} feeds b and waits for it: the tensor from b to c runs back.
  const Problem problem =
      tiny(plain_devices(2), {{"a", {1, 1}, "g"}, {"b", {1, 1}}, {"c", {1, 1}, "g"}}, {{0, 1}, {1, 2}});
  const PlacetoGraph graph =
      placeto_graph({&problem, make_grouping(problem, GroupingKind::colocation)}, false, any_stream());
  EXPECT_THAT(graph.children[0], ElementsAre(1));
  EXPECT_THAT(graph.children[1], IsEmpty());
  EXPECT_THAT(graph.descendants[0], ElementsAre(1));
  EXPECT_THAT(graph.ancestors[0], IsEmpty());
}

TEST(PlacetoState, IsWhatTheSheetSays) {
  // chain-5's mean times 6 4.5 5 4.5 6; each op has one output of 0 bytes but the last.
  const Problem problem = chain_5(2);
  const PolicyProblem list = by_op(problem);
  const PlacetoGraph graph = placeto_graph(list, false, any_stream());
  // Placement 0 1 1 1 0 runs at 0, 6, 9, 11, 16; the third is placed now, so starts are -9 -3 0 2 7, the largest 9.
  std::vector<float> starts;
  read_unit_starts(list.grouping, std::vector<Ticks>{0, 6 * ms, 9 * ms, 11 * ms, 16 * ms}, 2, starts);
  EXPECT_THAT(starts, ElementsAre(-1.0F, static_cast<float>(-3.0 / 9), 0.0F, static_cast<float>(2.0 / 9),
                                  static_cast<float>(7.0 / 9)));
  std::vector<float> state(5 * 7);
  write_placeto_state(graph, 2, false, 2, std::vector<std::uint8_t>{0, 1, 1, 1, 0}, starts, state);
  EXPECT_THAT(std::span(state).subspan(0, 7), ElementsAre(1.0F, 0.0F, 1.0F, 0.0F, -1.0F, 1.0F, 0.0F));
  EXPECT_THAT(std::span(state).subspan(14, 7),
              ElementsAre(static_cast<float>(5.0 / 6), 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F));
  EXPECT_THAT(std::span(state).subspan(28, 7),
              ElementsAre(1.0F, 0.0F, 0.0F, 0.0F, static_cast<float>(7.0 / 9), 1.0F, 0.0F));
}

TEST(PlacetoState, HasOneCurrentUnitOneMoreDoneEachStepAndNoStartWhereThereAreNoTimes) {
  const Problem problem = random_graph(12, 3, 2);
  const PolicyProblem list = by_op(problem);
  const PlacetoGraph graph = placeto_graph(list, true, any_stream());
  std::vector<float> starts;
  read_unit_starts(list.grouping, {}, 0, starts);
  EXPECT_THAT(starts, ::testing::Each(0.0F));
  const std::size_t d = placeto_features(3, true);
  std::vector<float> state(12 * d);
  for (std::size_t step = 0; step < 12; ++step) {
    write_placeto_state(graph, 3, true, step, std::vector<std::uint8_t>(12, no_device), starts, state);
    double done = 0, current = 0, devices = 0;
    for (std::size_t u = 0; u < 12; ++u) {
      done += state[u * d + 2];
      current += state[u * d + 3];
      for (std::size_t j = d - 3; j < d; ++j) devices += state[u * d + j];
    }
    EXPECT_EQ(done, static_cast<double>(step));
    EXPECT_EQ(current, 1);
    EXPECT_EQ(state[graph.order[step] * d + 3], 1);
    EXPECT_EQ(devices, 0) << "units on no device show none";
  }
}

TEST(PlacetoState, HasStartsWithinOneOfTheCurrentUnits) {
  EXPECT_TRUE(rc::check("starts in [-1, 1], 0 at the current unit, in the order of the times", [] {
    const auto ops = *rc::gen::inRange<std::size_t>(1, 20);
    const auto at = *rc::gen::container<std::vector<std::uint32_t>>(ops, rc::gen::inRange<std::uint32_t>(0, 1000));
    const auto current = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(ops));
    const Problem problem = random_graph(ops, 2, 1);  // unit u is op u
    const std::vector<Ticks> starts(at.begin(), at.end());
    std::vector<float> relative;
    read_unit_starts(by_op(problem).grouping, starts, current, relative);
    RC_ASSERT(relative.size() == ops);
    RC_ASSERT(relative[current] == 0.0F);
    float largest = 0;
    for (std::size_t u = 0; u < ops; ++u) {
      largest = std::max(largest, std::abs(relative[u]));
      RC_ASSERT((relative[u] < 0) == (starts[u] < starts[current]));
    }
    const bool is_any_apart = std::ranges::any_of(starts, [&](Ticks start) { return start != starts[current]; });
    RC_ASSERT(largest == (is_any_apart ? 1.0F : 0.0F));
  }));
}

}  // namespace
}  // namespace emplace
