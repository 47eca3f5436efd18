// HSDAG's features (docs/papers/hsdag.md, section 2.2) and the options that choose them.
#include "policy/hsdag/features.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::hsdag_features_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// p feeds x and y, both feed z; s has no consumer. Types: p conv, x and y relu, z conv.
Problem fork(const std::string& group_of_p_and_x = "") {
  ProblemBuilder builder("fork");
  for (int d = 0; d < 2; ++d) builder.add_device({"d" + std::to_string(d), "", no_memory_limit});
  for (std::size_t from = 0; from < 2; ++from)
    builder.add_route(DeviceId{from}, DeviceId{1 - from},
                      {builder.add_channel({std::to_string(from), 1e-6, 1e9, true})});
  for (const auto& [name, type] : {std::pair{"p", "conv"}, {"x", "relu"}, {"y", "relu"}, {"z", "conv"}, {"s", "relu"}})
    builder.add_op({.name = name,
                    .type = type,
                    .seconds = {1e-3, 1e-3},
                    .resident = 0,
                    .scratch = 0,
                    .colocate = *name == 'p' || *name == 'x' ? group_of_p_and_x : ""});
  builder.add_tensor(OpId{0}, 400, {OpId{1}, OpId{2}});
  builder.add_tensor(OpId{1}, 40, {OpId{3}});
  builder.add_tensor(OpId{2}, 0, {OpId{3}});
  builder.add_tensor(OpId{3}, 4000, {});
  return builder.build("fork");
}

struct Made {
  Made(Problem of, HsdagOptions options, GroupingKind kind = GroupingKind::op)
      : Made(std::move(of), options, kind, {}) {}
  Made(Problem of, const HsdagOptions& options, GroupingKind kind, const OutputShapes& shapes)
      : problem(std::move(of)) {
    list.emplace_back(&problem, make_grouping(problem, kind));
    if (shapes.op_count() > 0) list.front().shapes = shapes;
    types = op_types_of(list);
    graph = hsdag_graph(list.front());
    columns = hsdag_columns(options, {list, types}, {&graph, 1});
    values = hsdag_features(list.front(), graph, columns, types, 1, 0);
  }
  [[nodiscard]] std::vector<float> row(std::size_t unit) const {
    const auto width = static_cast<std::ptrdiff_t>(columns.width());
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(unit) * width;
    return {begin, begin + width};
  }
  Problem problem;
  std::vector<PolicyProblem> list;
  std::vector<std::string> types;
  HsdagGraph graph;
  HsdagColumns columns;
  std::vector<float> values;
};

float log_1p(double x) { return static_cast<float>(std::log1p(x)); }

TEST(HsdagFeatures, AreThoseOfThePaper) {
  HsdagOptions options;
  options.position_width = 4;
  const Made made(fork(), options);
  EXPECT_THAT(made.columns.in_degrees, ElementsAre(0, 1, 2));
  EXPECT_THAT(made.columns.out_degrees, ElementsAre(0, 1, 2));
  EXPECT_EQ(made.columns.width(), 2U + 4 + 3 + 3 + 1 + 4);
  // Types conv, relu; 400 bytes are 100 floats; no producer; two consumers; N(p, r) = 2, 3; unit 0 of the order.
  const auto slope = static_cast<float>(std::log(1.5) / std::log(2.0));
  EXPECT_THAT(made.row(0), ElementsAre(1, 0, log_1p(100), 0, 0, 0, 1, 0, 0, 0, 0, 1, ::testing::FloatNear(slope, 1e-6F),
                                       0, 1, 0, 1));
  // Unit 1: sin and cos of 1 and of 1 / 10000^(2/4).
  const std::vector<float> x = made.row(made.list.front().grouping.unit_of_op[1]);
  EXPECT_THAT(std::vector(x.begin(), x.begin() + 12), ElementsAre(0, 1, log_1p(10), 0, 0, 0, 0, 1, 0, 0, 1, 0));
  const auto rank = static_cast<double>(made.list.front().grouping.unit_of_op[1]);
  EXPECT_THAT(std::vector(x.begin() + 13, x.end()),
              ElementsAre(::testing::FloatEq(static_cast<float>(std::sin(rank))),
                          ::testing::FloatEq(static_cast<float>(std::cos(rank))),
                          ::testing::FloatEq(static_cast<float>(std::sin(rank / 100))),
                          ::testing::FloatEq(static_cast<float>(std::cos(rank / 100)))));
  // No bytes: no shape.
  const std::vector<float> y = made.row(made.list.front().grouping.unit_of_op[2]);
  EXPECT_THAT(std::vector(y.begin(), y.begin() + 6), ElementsAre(0, 1, 0, 0, 0, 0));
}

TEST(HsdagFeatures, OfAUnitAreTheMeanOfItsTypesAndTheShapeOfItsLastOp) {
  HsdagOptions options;
  options.position_feature = options.structure_features = false;
  const Made made(fork("g"), options, GroupingKind::colocation);
  EXPECT_THAT(made.row(0), ElementsAre(0.5F, 0.5F, log_1p(10), 0, 0, 0)) << "p and x, x's output";
}

TEST(HsdagFeatures, CountAnUnknownDimensionAsAHundredAndReadFour) {
  OutputShapes shapes;
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, -1, 3}, {1, 2, 3, 4, 5}, {}, {7}, {1}}) {
    shapes.add_op();
    shapes.add_output(shape);
  }
  HsdagOptions options;
  options.position_feature = options.structure_features = false;
  const Made made(fork(), options, GroupingKind::op, shapes);
  EXPECT_THAT(made.row(0), ElementsAre(1, 0, log_1p(2), log_1p(100), log_1p(3), 0));
  const auto of_x = made.row(made.list.front().grouping.unit_of_op[1]);
  EXPECT_THAT(of_x, ElementsAre(0, 1, log_1p(1), log_1p(2), log_1p(3), log_1p(4)));
}

TEST(HsdagFeatures, OfTheCodeAreTypesAndTheNumberOfTheNode) {
  HsdagOptions options;
  options.features = "code";
  const Made made(fork(), options);
  EXPECT_EQ(made.columns.width(), 3U);
  for (std::size_t unit = 0; unit < 5; ++unit) EXPECT_EQ(made.row(unit).back(), static_cast<float>(unit));
}

TEST(HsdagFeatures, CanBeLeftOutOneByOne) {
  const auto width = [](bool shape, bool structure, bool position) {
    HsdagOptions options;
    options.shape_feature = shape;
    options.structure_features = structure;
    options.position_feature = position;
    return Made(fork(), options).columns.width();
  };
  EXPECT_EQ(width(true, true, true), 2U + 4 + 7 + 16);
  EXPECT_EQ(width(false, true, true), 2U + 7 + 16);
  EXPECT_EQ(width(true, false, true), 2U + 4 + 16);
  EXPECT_EQ(width(true, true, false), 2U + 4 + 7);
  EXPECT_EQ(width(false, false, false), 2U);
}

TEST(HsdagFeatures, TellApartTheDegreesOfAllProblemsAndAreSettledForOthers) {
  const Problem problems[] = {chain_5(1), fork()};
  std::vector<PolicyProblem> list;
  for (const Problem& problem : problems) list.push_back({&problem, make_grouping(problem, GroupingKind::op)});
  const auto types = op_types_of(list);
  const ConfigTable settled = freeze_degrees({}, {list, types});
  const auto options = read_options<HsdagOptions>(settled);
  EXPECT_THAT(options.in_degrees, ElementsAre("0", "1", "2"));
  EXPECT_THAT(options.out_degrees, ElementsAre("0", "1", "2"));
  // Another problem has as many columns; a degree of three has none of them.
  const Problem wide =
      tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}, {"c", {1, 1}}, {"d", {1, 1}}}, {{0, 1}, {0, 2}, {0, 3}});
  const std::vector<PolicyProblem> other = {{&wide, make_grouping(wide, GroupingKind::op)}};
  const HsdagGraph graph = hsdag_graph(other.front());
  const HsdagColumns columns = hsdag_columns(options, {other, types}, {&graph, 1});
  EXPECT_THAT(columns.out_degrees, ElementsAre(0, 1, 2));
  const auto features = hsdag_features(other.front(), graph, columns, types, 1, 0);
  const auto begin = features.begin() + static_cast<std::ptrdiff_t>(types.size() + 4 + 3);
  EXPECT_THAT(std::vector(begin, begin + 3), ElementsAre(0, 0, 0));
}

TEST(HsdagFeatures, CountEachNeighbourOnce) {
  // Two tensors from a to b, and {a, c} <-> {b} through a group.
  ProblemBuilder builder("twice");
  builder.add_device({"d", "", no_memory_limit});
  for (const char* name : {"a", "b", "c"})
    builder.add_op({.name = name,
                    .type = "t",
                    .seconds = {1e-3},
                    .resident = 0,
                    .scratch = 0,
                    .colocate = *name == 'b' ? "" : "g"});
  builder.add_tensor(OpId{0}, 4, {OpId{1}});
  builder.add_tensor(OpId{0}, 4, {OpId{1}});
  builder.add_tensor(OpId{1}, 4, {OpId{2}});
  const Problem problem = builder.build("twice");
  const PolicyProblem units(&problem, make_grouping(problem, GroupingKind::colocation));
  const HsdagGraph graph = hsdag_graph(units);
  EXPECT_THAT(graph.degrees.in, ElementsAre(1, 1));
  EXPECT_THAT(graph.degrees.out, ElementsAre(1, 1));
  EXPECT_EQ(graph.graph.edges(), 1U);
}

TEST(HsdagFeatures, RefuseDegreesThatAreNoAscendingNumbers) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"1", "x"}, {"2", "1"}, {"1", "1"}, {"-1"}, {""}, {"1.5"}}) {
    HsdagOptions options;
    options.out_degrees = wrong;
    try {
      const Made made(fork(), options);
      ADD_FAILURE() << wrong.back();
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("policy hsdag: out_degrees has '" + wrong.back() +
                                          "', wanted whole numbers in ascending order"));
    }
  }
}

}  // namespace
}  // namespace emplace::policy::hsdag_features_test
