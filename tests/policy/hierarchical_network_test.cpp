// The Hierarchical Planner's networks and input features (docs/papers/hierarchical.md, sections 7.1 - 7.5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "policy/hierarchical/group_features.hpp"
#include "policy/hierarchical/network.hpp"
#include "tests/policy/network_check.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::hierarchical_network_test {
namespace {

using namespace test;
using ::testing::FloatEq;
using ::testing::Pointwise;

TEST(HierarchicalNetwork, HasTheParametersOfItsPage) {
  // T=10, G=8, D=2: types 200; grouper 65 x 64 + 64 + 64 x 8 + 8; encoder 2 x (43 + 256) x 1024; forget scalars 2;
  // devices 3 x 512; decoder 1024 x 2048; attention 2 x 512 x 512 + 512; output 1024 x 2.
  const HierarchicalNetwork network({.types = 10, .groups = 8, .devices = 2});
  EXPECT_EQ(network.grouper_weight.rows, 65U);
  EXPECT_EQ(network.sizes.group_features(), 43U);
  EXPECT_EQ(network.layout.size(), 3'242'834U);
  EXPECT_EQ(HierarchicalNetwork({.types = 200, .groups = 256, .devices = 2}).layout.size(), 4'159'778U);
}

TEST(HierarchicalNetwork, HasOneMoreInputOfTheGrouperForTheNumberOfOutputs) {
  // 66 instead of 65 columns, each of which has 64 weights.
  const HierarchicalNetwork network({.types = 10, .groups = 8, .devices = 2, .number_of_outputs = true});
  EXPECT_EQ(network.grouper_weight.rows, 66U);
  EXPECT_EQ(network.sizes.group_features(), 43U) << "groups have no such column";
  EXPECT_EQ(network.layout.size(), 3'242'834U + 64U);
}

TEST(HierarchicalNetwork, SpreadsTheFirstLogitsOfItsGrouperByTheGain) {
  const auto start = [](double gain) {
    const HierarchicalNetwork network({.types = 2, .groups = 4, .devices = 2, .hidden = 6, .grouper_gain = gain});
    std::vector<double> values(network.layout.size());
    network.initialize<double>(values, 1);
    return std::pair(network.group_weight, values);
  };
  const auto [slice, once] = start(1);
  const auto [same, fivefold] = start(5);
  for (std::size_t i = 0; i < once.size(); ++i)
    EXPECT_DOUBLE_EQ(fivefold[i], (i >= slice.begin && i < slice.begin + slice.size() ? 5 : 1) * once[i]);
}

// Small sizes for everything below.
HierarchicalSizes small_sizes(std::size_t groups) {
  return {.types = 2,
          .groups = groups,
          .devices = 3,
          .shape_slots = 1,
          .neighbour_slots = 2,
          .type_width = 2,
          .grouper_hidden = 4,
          .hidden = 6};
}

TEST(HierarchicalNetwork, HasRightGradientsOfTheGrouper) {
  const HierarchicalNetwork network(small_sizes(4));
  Lists types;
  types.begin = {0, 1, 1, 2};
  types.items = {1, 0};
  const std::vector<double> constants = random_doubles(3 * 3, 2, 1);
  check_network(network.layout.size(), [&]<class T>(nn::Tape<T>& tape) {
    const nn::Matrix<T> rows = tape.matrix(3, 3);
    for (std::size_t i = 0; i < constants.size(); ++i) rows.data[i] = static_cast<T>(constants[i]);
    return grouper_logits<T>(tape, network, types, rows);
  });
}

HierarchicalSizes aligned(HierarchicalSizes sizes) {
  sizes.aligned = true;
  return sizes;
}

void expect_right_gradients_of_the_placer(const HierarchicalSizes& sizes) {
  const HierarchicalNetwork network(sizes);
  const std::vector<double> features = random_doubles(3 * 6, 2, 1);
  const std::vector<std::uint32_t> previous = {3, 3, 0, 2, 1, 1};  // two samples
  check_network(network.layout.size(), [&]<class T>(nn::Tape<T>& tape) {
    const nn::Matrix<T> rows = tape.matrix(3, 6);
    for (std::size_t i = 0; i < features.size(); ++i) rows.data[i] = static_cast<T>(features[i]);
    return decode_groups<T>(tape, network, encode_groups<T>(tape, network, rows), previous, 2);
  });
}

TEST(HierarchicalNetwork, HasRightGradientsOfThePlacer) { expect_right_gradients_of_the_placer(small_sizes(3)); }
TEST(HierarchicalNetwork, HasRightGradientsOfAnAlignedPlacer) {
  expect_right_gradients_of_the_placer(aligned(small_sizes(3)));
}

TEST(HierarchicalNetwork, GivesAnOpLogitsOfItsOwnFeaturesAlone) {
  const HierarchicalNetwork network(small_sizes(4));
  const std::vector<double> parameters = random_doubles(network.layout.size(), 1, 1);
  Lists types;
  types.begin = {0, 1, 2, 3};
  types.items = {1, 0, 1};
  std::vector<double> constants = random_doubles(3 * 3, 2, 1);
  const auto logits = [&] {
    nn::Tape<double> tape;
    tape.begin(parameters, {});
    const auto values = tape.value(grouper_logits<double>(tape, network, types, {constants.data(), 3, 3})).all();
    return std::vector<double>(values.begin(), values.end());
  };
  const std::vector<double> before = logits();
  constants[3] += 1;  // of op 1
  types.items[1] = 1;
  const std::vector<double> after = logits();
  for (std::size_t i = 0; i < 12; ++i) {
    if (i / 4 == 1)
      EXPECT_NE(after[i], before[i]);
    else
      EXPECT_EQ(after[i], before[i]);
  }
}

TEST(HierarchicalNetwork, AlignsBothDirectionsOfTheEncoderOnTheirGroup) {
  // G = 3: the backward half of h_0 depends on all groups, that of h_2 on group 2 alone; the forward half of h_0 on
  // group 0 alone.
  const HierarchicalNetwork network(small_sizes(3));
  const std::vector<double> parameters = random_doubles(network.layout.size(), 1, 1);
  std::vector<double> features = random_doubles(3 * 6, 2, 1);
  const auto states = [&] {
    nn::Tape<double> tape;
    tape.begin(parameters, {});
    const auto values = tape.value(encoder_states<double>(tape, network, {features.data(), 3, 6}).hidden).all();
    return std::vector<double>(values.begin(), values.end());
  };
  const std::vector<double> before = states();
  for (std::size_t group = 0; group < 3; ++group) {
    features[group * 6] += 1;
    const std::vector<double> after = states();
    features[group * 6] -= 1;
    const auto changes = [&](std::size_t row, bool backward) {
      const std::size_t at = row * 6 + (backward ? 3 : 0);
      return !std::equal(before.begin() + static_cast<std::ptrdiff_t>(at),
                         before.begin() + static_cast<std::ptrdiff_t>(at + 3),
                         after.begin() + static_cast<std::ptrdiff_t>(at));
    };
    EXPECT_TRUE(changes(0, true)) << group;
    EXPECT_EQ(changes(2, true), group == 2) << group;
    EXPECT_EQ(changes(0, false), group == 0) << group;
    EXPECT_TRUE(changes(2, false)) << group;
  }
}

void expect_same_step_by_step(const HierarchicalSizes& sizes) {
  const HierarchicalNetwork network(sizes);
  const std::vector<double> parameters = random_doubles(network.layout.size(), 1, 1);
  const std::vector<double> features = random_doubles(3 * 6, 2, 1);
  const std::vector<std::uint32_t> previous = {3, 3, 0, 2, 1, 1};
  nn::Tape<double> tape;
  tape.begin(parameters, {});
  const DecoderMemory encoding = encode_groups<double>(tape, network, {features.data(), 3, 6});
  const nn::Matrix<const double> all = tape.value(decode_groups<double>(tape, network, encoding, previous, 2));
  PlacerSteps<double> step(tape, network, encoding, 2);
  for (std::size_t t = 0; t < 3; ++t) {
    const nn::Matrix<double> logits = step(std::span(previous).subspan(t * 2, 2));
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(logits.data[i], all.data[t * 6 + i], 1e-12);
  }
}

TEST(HierarchicalNetwork, DecodesStepByStepAsAtOnce) { expect_same_step_by_step(small_sizes(3)); }
TEST(HierarchicalNetwork, DecodesStepByStepAsAtOnceWhereItIsAligned) {
  expect_same_step_by_step(aligned(small_sizes(3)));
}

// fork-join s -> {a, b} -> t with shapes of one number: s 1, a 3, b 7, t none.
struct ForkJoin {
  ForkJoin() {
    problem.op_types = {"Split", "Conv", "Conv", "Add"};
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{1}, {3}, {7}, {}}) {
      shapes.add_op();
      if (!shape.empty()) shapes.add_output(shape);
    }
  }
  [[nodiscard]] UnitTable table() {
    PolicyProblem seen(&problem, make_grouping(problem, GroupingKind::op));
    seen.shapes = shapes;
    return unit_table(seen, types, {.shapes = {1, 1}, .neighbours = 2});
  }
  Problem problem = fork_join(2);
  OutputShapes shapes;
  std::vector<std::string> types = {"Add", "Conv", "Split"};
};

TEST(GroupFeatures, CountTypesSumShapesAndMarkFollowingGroups) {
  ForkJoin fork_join;
  // Groups: {s, t} = 1, {a, b} = 0, 2 is empty. Both groups feed each other.
  std::vector<float> rows(3 * 7);
  set_group_features(fork_join.table(), std::vector<std::uint32_t>{1, 0, 0, 1}, 3, 3, rows);
  const float one = std::log(2.0F), two = std::log(3.0F);  // log(1 + count)
  EXPECT_THAT(rows, Pointwise(FloatEq(), {0.0F, two,  0.0F, std::log(1 + std::log(4.0F) + std::log(8.0F)),
                                          0.0F, 1.0F, 0.0F,  //
                                          one,  0.0F, one,  std::log(1 + std::log(2.0F)),
                                          1.0F, 0.0F, 0.0F,  //
                                          0.0F, 0.0F, 0.0F, 0.0F,
                                          0.0F, 0.0F, 0.0F}));
}

TEST(GroupFeatures, KeepTotalsAndFollowPermutationsOfTheLabels) {
  ForkJoin fork_join;
  const UnitTable table = fork_join.table();
  std::vector<float> rows(3 * 7), permuted(3 * 7);
  set_group_features(table, std::vector<std::uint32_t>{0, 1, 2, 2}, 3, 3, rows);
  double ops = 0, shapes = 0;
  for (std::size_t g = 0; g < 3; ++g) {
    for (std::size_t type = 0; type < 3; ++type) ops += std::expm1(rows[g * 7 + type]);
    shapes += std::expm1(rows[g * 7 + 3]);
    EXPECT_EQ(rows[g * 7 + 4 + g], 0) << "the diagonal";
  }
  EXPECT_NEAR(ops, 4, 1e-6);
  EXPECT_NEAR(shapes, std::log(2 * 4 * 8.0), 1e-5);
  const std::uint32_t label[] = {2, 0, 1};  // the new label of group g
  set_group_features(table, std::vector<std::uint32_t>{2, 0, 1, 1}, 3, 3, permuted);
  for (std::size_t g = 0; g < 3; ++g) {
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(permuted[label[g] * 7 + i], rows[g * 7 + i]);
    for (std::size_t h = 0; h < 3; ++h) EXPECT_EQ(permuted[label[g] * 7 + 4 + label[h]], rows[g * 7 + 4 + h]);
  }
}

TEST(GroupFeatures, ListTheFirstOpOfEachUnitForTheGrouper) {
  ForkJoin fork_join;
  fork_join.problem = tiny(plain_devices(1), {{"s", {1}, "g"}, {"a", {1}}, {"b", {1}}, {"t", {1}, "g"}},
                           {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 1);
  fork_join.problem.op_types = {"Split", "Conv", "?", "Add"};
  PolicyProblem seen(&fork_join.problem, make_grouping(fork_join.problem, GroupingKind::colocation));
  seen.shapes = fork_join.shapes;
  const UnitTable table = unit_table(seen, fork_join.types, {.shapes = {1, 1}, .neighbours = 1, .position_waves = 1});
  // Units {s, t}, {a}, {b}; N = 4. s: log 2, no producer, first consumer a = 2/4. a: producer s = 1/4, consumer t =
  // 4/4. Each unit's place: sine and cosine of 1/6, 3/6 and 5/6 of pi.
  const float c = std::sqrt(0.75F);
  EXPECT_THAT(table.first_op, Pointwise(::testing::FloatNear(1e-6F), {std::log(2.0F), 0.0F, 0.5F, 0.5F, c,      //
                                                                      std::log(4.0F), 0.25F, 1.0F, 1.0F, 0.0F,  //
                                                                      std::log(8.0F), 0.25F, 1.0F, 0.5F, -c}));
  EXPECT_THAT(table.first_type.begin, ::testing::ElementsAre(0, 1, 2, 2)) << "b's type is not known";
  EXPECT_THAT(table.first_type.items, ::testing::ElementsAre(2, 1));
  EXPECT_THAT(table.types.items, ::testing::ElementsAre(2, 0, 1));
}

TEST(GroupFeatures, OrderUnitsByLayersOfTheModel) {
  Problem problem = tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}, {"c", {1}}, {"d", {1}}, {"e", {1}}}, {}, 1);
  const auto order = [&] {
    const PolicyProblem seen(&problem, make_grouping(problem, GroupingKind::op));
    return unit_table(seen, {}, {}).order;
  };
  EXPECT_THAT(order(), Pointwise(FloatEq(), {0.1F, 0.3F, 0.5F, 0.7F, 0.9F})) << "no layers";
  problem.layer = {.of_op = {1, OpLabels::none, 0, 1, 0}, .names = {"first", "second"}};
  EXPECT_THAT(order(), Pointwise(FloatEq(), {0.5F, 0.9F, 0.1F, 0.7F, 0.3F})) << "c, e, a, d, b";
}

// Four ops by themselves with 0, 1, 2 and 7 outputs, the last of them scalars, which fill no shape slot.
UnitTable table_of_outputs(bool number_of_outputs) {
  const Problem problem = tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}, {"c", {1}}, {"d", {1}}}, {}, 1);
  PolicyProblem seen(&problem, make_grouping(problem, GroupingKind::op));
  seen.shapes = {};
  for (const std::size_t outputs : {0, 1, 2, 7}) {
    seen.shapes.add_op();
    for (std::size_t k = 0; k < outputs; ++k)
      seen.shapes.add_output(outputs == 7 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{3});
  }
  return unit_table(seen, {}, {.shapes = {2, 1}, .number_of_outputs = number_of_outputs, .neighbours = 1});
}

TEST(OpFeatures, HaveALogarithmOfTheNumberOfOutputsBehindTheirShapes) {
  const float four = std::log(4.0F);  // log(1 + 3), a shape
  EXPECT_THAT(table_of_outputs(true).first_op, Pointwise(FloatEq(), {0.0F, 0.0F, 0.0F,           0.0F, 0.0F,  //
                                                                     four, 0.0F, std::log(2.0F), 0.0F, 0.0F,  //
                                                                     four, four, std::log(3.0F), 0.0F, 0.0F,  //
                                                                     0.0F, 0.0F, std::log(8.0F), 0.0F, 0.0F}));
}

TEST(OpFeatures, HaveNoSuchColumnUnlessItIsAskedFor) {
  const UnitTable with = table_of_outputs(true), without = table_of_outputs(false);
  ASSERT_EQ(without.first_op.size(), 4U * 4U);
  ASSERT_EQ(with.first_op.size(), 4U * 5U);
  for (std::size_t unit = 0; unit < 4; ++unit)
    for (std::size_t column = 0; column < 4; ++column)
      EXPECT_EQ(without.first_op[unit * 4 + column], with.first_op[unit * 5 + column + (column < 2 ? 0 : 1)]);
  EXPECT_EQ(with.shapes, without.shapes) << "groups add up shapes alone";
}

}  // namespace
}  // namespace emplace::policy::hierarchical_network_test
