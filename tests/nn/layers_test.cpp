#include "nn/layers/layers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "tests/nn/gradient_check.hpp"

namespace emplace::nn::layers_test {
namespace {

using test::check_network;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Vars = std::vector<Var>;

constexpr Activation activations[] = {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid};

TEST(Linear, HasTheGradientsOfItsFormula) {
  for (const Activation activation : activations)
    for (const bool biased : {true, false}) {
      const auto network = [=](auto& tape, std::span<const Var> v) {
        return Vars{linear(tape, v[0], v[1], v[2], activation)};
      };
      check_network({{5, 7}, {7, 3}, {biased ? 1U : 0U, 3}}, network);
      check_network({{1, 1}, {1, 1}, {biased ? 1U : 0U, 1}}, network);
      check_network({{1, 19}, {19, 33}, {biased ? 1U : 0U, 33}}, network);
    }
}

TEST(Linear, OfAHandWorkedExample) {
  // [1 2] [[1 -1] [0 3]] + [1 -6] = [1+0+1, -1+6-6] = [2 -1]; relu gives [2 0].
  const std::vector<float> values = {1, 2, 1, -1, 0, 3, 1, -6};
  Tape<float> tape;
  tape.begin(values, {});
  const Var y =
      linear(tape, tape.parameter({0, 1, 2}), tape.parameter({2, 2, 2}), tape.parameter({6, 1, 2}), Activation::relu);
  EXPECT_THAT(tape.value(y).all(), ElementsAre(2, 0));
}

TEST(PairScores, OfAHandWorkedExample) {
  // x = [2 3], features of two choices [1 0] and [4 5]: 2 x 1 + 3 x 0 = 2 and 2 x 4 + 3 x 5 = 23.
  const std::vector<float> values = {2, 3, 1, 0, 4, 5};
  Tape<float> tape;
  tape.begin(values, {});
  const Var y = pair_scores(tape, tape.parameter({0, 1, 2}), tape.constant({values.data() + 2, 1, 4}));
  EXPECT_THAT(tape.value(y).all(), ElementsAre(2, 23));
}

TEST(Linear, NamesItselfAndTheShapesThatDoNotFit) {
  const std::vector<double> values(12);
  Tape<double> tape;
  tape.begin(values, {});
  const Var x = tape.parameter({0, 2, 3});
  const Var w = tape.parameter({6, 2, 3});
  try {
    linear(tape, x, w, {}, Activation::none);
    FAIL() << "it took them";
  } catch (const BugError& error) {
    EXPECT_THAT(error.what(), HasSubstr("linear does not take inputs of 2x3 2x3 0x0"));
  }
}

TEST(Matmul, OfNothingIsZeros) {
  // Rows of no columns times a weight of no rows.
  const std::vector<float> values(1);
  Tape<float> tape;
  for (int step = 0; step < 2; ++step) {
    tape.begin(values, {});
    std::ranges::fill(tape.matrix(8, 8).all(), 7.0F);  // not zeros by chance
    tape.begin(values, {});
    const Var y = matmul(tape, tape.constant({values.data(), 3, 0}), tape.constant({values.data(), 0, 5}));
    EXPECT_THAT(tape.value(y).all(), ::testing::Each(0));
    EXPECT_EQ(tape.value(matmul(tape, tape.constant({values.data(), 0, 1}), tape.parameter({0, 1, 1}))).rows, 0);
  }
}

TEST(Matmul, HasTheGradientsOfItsFormula) {
  check_network({{4, 9}, {9, 6}}, [](auto& tape, std::span<const Var> v) { return Vars{matmul(tape, v[0], v[1])}; });
}

TEST(Add, HasTheGradientsOfItsFormulaAlsoForTwiceTheSame) {
  check_network({{3, 5}, {3, 5}}, [](auto& tape, std::span<const Var> v) {
    const Var sum = add(tape, v[0], v[1]);
    return Vars{add(tape, sum, activate(tape, sum, Activation::tanh)), add(tape, v[0], v[0])};
  });
}

TEST(AddRow, HasTheGradientsOfItsFormula) {
  for (const std::size_t rows : {1, 6})
    check_network({{rows, 3}, {1, 3}},
                  [](auto& tape, std::span<const Var> v) { return Vars{add_row(tape, v[0], v[1])}; });
}

TEST(Scale, HasTheGradientsOfItsFormula) {
  check_network({{3, 5}}, []<class T>(Tape<T>& tape, std::span<const Var> v) {
    return Vars{scale(tape, v[0], static_cast<T>(-2.5))};
  });
}

TEST(Times, HasTheGradientsOfItsFormula) {
  for (const std::size_t rows : {1, 4}) {
    check_network({{4, 5}, {rows, 5}},
                  [](auto& tape, std::span<const Var> v) { return Vars{times(tape, v[0], v[1])}; });
    check_network({{rows, 3}}, [](auto& tape, std::span<const Var> v) { return Vars{times(tape, v[0], v[0])}; });
  }
}

TEST(MatmulTransposed, HasTheGradientsOfItsFormula) {
  check_network({{4, 9}, {6, 9}},
                [](auto& tape, std::span<const Var> v) { return Vars{matmul_transposed(tape, v[0], v[1])}; });
}

TEST(ProductOfConstant, IsTheProductWithAGradientByTheWeightAlone) {
  const std::vector<double> values = test::random_values<double>(20 + 15, 1);
  const auto run = [&](bool constant) {
    std::vector<double> gradient(values.size());
    Tape<double> tape;
    tape.begin(values, gradient);
    const Var x = tape.parameter({0, 4, 5}), weight = tape.parameter({20, 5, 3});
    Var y = matmul(tape, x, weight);
    if (constant) y = product_of_constant(tape, y, x, weight);
    std::ranges::fill(tape.gradient(y).all(), 2.0);
    EXPECT_NE(tape.value(y).data[0], 0);
    tape.backward();
    return gradient;
  };
  std::vector<double> wanted = run(false);
  std::fill_n(wanted.begin(), 20, 0.0);
  EXPECT_EQ(run(true), wanted);
}

TEST(Activate, HasTheGradientsOfItsFormula) {
  for (const Activation activation : activations)
    check_network({{3, 11}},
                  [=](auto& tape, std::span<const Var> v) { return Vars{activate(tape, v[0], activation)}; });
}

TEST(Squash, HasTheGradientsOfItsFormula) {
  check_network({{3, 5}}, []<class T>(Tape<T>& tape, std::span<const Var> v) {
    return Vars{squash(tape, v[0], T{5}, static_cast<T>(0.5))};
  });
}

TEST(Squash, KeepsLogitsWithinItsBound) {
  const std::vector<float> values = {-1e30F, 0, 1e30F};
  Tape<float> tape;
  tape.begin(values, {});
  EXPECT_THAT(tape.value(squash(tape, tape.parameter({0, 1, 3}), 5.0F, 10.0F)).all(), ElementsAre(-5, 0, 5));
}

TEST(Columns, AreJoinedAndCutWithTheirGradients) {
  check_network({{4, 3}, {4, 1}, {4, 6}}, [](auto& tape, std::span<const Var> v) {
    const Var whole = concat_columns(tape, v);
    return Vars{activate(tape, whole, Activation::tanh), slice_columns(tape, whole, 2, 5),
                slice_columns(tape, v[2], 5, 1)};
  });
}

TEST(Rows, AreCutWithTheirGradients) {
  check_network({{7, 3}}, [](auto& tape, std::span<const Var> v) {
    const Var y = activate(tape, v[0], Activation::tanh);
    const Var middle = slice_rows(tape, y, 2, 4);
    return Vars{activate(tape, middle, Activation::tanh), slice_rows(tape, middle, 3, 1), y};
  });
}

TEST(GatherRows, AddsTheGradientsOfRowsTakenTwice) {
  const std::vector<std::uint32_t> index = {2, 0, 2, 2, 4};
  check_network({{5, 3}}, [&](auto& tape, std::span<const Var> v) { return Vars{gather_rows(tape, v[0], index)}; });
}

TEST(GatherRows, RefusesARowBeyondTheTable) {
  const std::vector<double> values(6);
  const std::vector<std::uint32_t> index = {0, 2};
  Tape<double> tape;
  tape.begin(values, {});
  const Var table = tape.parameter({0, 2, 3});
  EXPECT_THROW(gather_rows(tape, table, index), BugError);
}

// Rows: {1, 4, 1}, {}, {0}, {3, 2, 5, 4}, {}.
Lists lists() { return {.begin = {0, 3, 3, 4, 8, 8}, .items = {1, 4, 1, 0, 3, 2, 5, 4}}; }

TEST(Segments, HaveTheGradientsOfTheirFormulas) {
  const Lists rows = lists();
  check_network({{6, 5}}, [&](auto& tape, std::span<const Var> v) {
    return Vars{segment_sum(tape, v[0], rows), segment_mean(tape, v[0], rows), segment_max(tape, v[0], rows)};
  });
}

TEST(Segments, OfAHandWorkedExample) {
  const Lists rows = lists();
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  Tape<float> tape;
  tape.begin(values, {});
  const Var x = tape.parameter({0, 6, 1});
  EXPECT_THAT(tape.value(segment_sum(tape, x, rows)).all(), ElementsAre(9, 0, 1, 18, 0));
  EXPECT_THAT(tape.value(segment_mean(tape, x, rows)).all(), ElementsAre(3, 0, 1, 4.5, 0));
  EXPECT_THAT(tape.value(segment_max(tape, x, rows)).all(), ElementsAre(5, 0, 1, 6, 0));
}

TEST(SegmentMax, GivesTheGradientToTheFirstOfEquals) {
  const Lists rows{.begin = {0, 3}, .items = {2, 0, 1}};
  const std::vector<double> values = {7, 7, 7};
  std::vector<double> gradient(3);
  Tape<double> tape;
  tape.begin(values, gradient);
  const Var y = segment_max(tape, tape.parameter({0, 3, 1}), rows);
  tape.gradient(y).data[0] = 1;
  tape.backward();
  EXPECT_THAT(gradient, ElementsAre(0, 0, 1));
}

TEST(SegmentMax, KeepsValuesBelowZero) {
  const Lists rows{.begin = {0, 2}, .items = {0, 1}};
  const std::vector<double> values = {-7, -3};
  Tape<double> tape;
  tape.begin(values, {});
  EXPECT_EQ(tape.value(segment_max(tape, tape.parameter({0, 2, 1}), rows)).data[0], -3);
}

TEST(LayerNorm, HasTheGradientsOfItsFormula) {
  for (const std::size_t rows : {1, 4})
    check_network({{rows, 7}, {1, 7}, {1, 7}}, []<class T>(Tape<T>& tape, std::span<const Var> v) {
      return Vars{layer_norm(tape, v[0], v[1], v[2], static_cast<T>(1e-5))};
    });
}

TEST(LayerNorm, OfAHandWorkedExample) {
  // Mean 3, variance ((-2)^2 + 0 + 2^2) / 3 = 8/3; with epsilon 4/3 the root is 2: [-1 0 1] times [1 2 3] plus [0 1 0].
  const std::vector<double> values = {1, 3, 5, 1, 2, 3, 0, 1, 0};
  Tape<double> tape;
  tape.begin(values, {});
  const Var y =
      layer_norm(tape, tape.parameter({0, 1, 3}), tape.parameter({3, 1, 3}), tape.parameter({6, 1, 3}), 4.0 / 3.0);
  const auto row = tape.value(y).all();
  EXPECT_NEAR(row[0], -1, 1e-15);
  EXPECT_NEAR(row[1], 1, 1e-15);
  EXPECT_NEAR(row[2], 3, 1e-15);
}

}  // namespace
}  // namespace emplace::nn::layers_test
