#include "nn/layers/sparse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "nn/layers/layers.hpp"
#include "tests/nn/gradient_check.hpp"

namespace emplace::nn::sparse_test {
namespace {

using test::check_network;
using test::random_values;
using ::testing::ElementsAre;
using Vars = std::vector<Var>;

// 4 x 4, symmetric, with an empty row.
const Lists lists{.begin = {0, 2, 5, 5, 6}, .items = {0, 1, 0, 1, 3, 1}};
const std::vector<double> weights = {0.5, -1, -1, 2, 3, 3};

TEST(SymmetricProduct, OfAHandWorkedExample) {
  // Rows 1, 2, 3, 4: 0.5 x 1 - 2; -1 + 2 x 2 + 3 x 4; none; 3 x 2.
  const std::vector<float> values = {1, 2, 3, 4};
  Tape<float> tape;
  tape.begin(values, {});
  const Var y = symmetric_product(tape, lists, weights, tape.parameter({0, 4, 1}));
  EXPECT_THAT(tape.value(y).all(), ElementsAre(-1.5F, 15, 0, 6));
}

TEST(SymmetricProduct, HasTheGradientsOfItsFormula) {
  for (const std::size_t columns : {1, 19, 130})
    check_network({{4, columns}}, [](auto& tape, std::span<const Var> v) {
      const Var once = symmetric_product(tape, lists, weights, v[0]);
      return Vars{symmetric_product(tape, lists, weights, once), once, v[0]};
    });
}

TEST(ProductOfRows, HasTheGradientsOfItsFormulaAlsoForARowTimesItself) {
  const std::vector<std::uint32_t> a = {0, 2, 1, 0}, b = {1, 2, 0, 2};
  check_network({{3, 5}}, [=](auto& tape, std::span<const Var> v) { return Vars{product_of_rows(tape, v[0], a, b)}; });
}

TEST(ScaleRows, HasTheGradientsOfItsFormula) {
  check_network({{3, 5}, {3, 1}},
                [](auto& tape, std::span<const Var> v) { return Vars{scale_rows(tape, v[0], v[1])}; });
}

// Row 2 reads nothing, row 3 another row alone.
const Lists neighbours{.begin = {0, 2, 5, 5, 6}, .items = {0, 1, 0, 1, 3, 1}};

TEST(NeighbourAttention, OfAHandWorkedExample) {
  // s is a node's own number, and the one that others read of it.
  //   row 0: r = log 3 + 0, log 3 - log 3 = e; weights 3 : 1
  //   row 1: r = -5 log 2, -5 log 2 - log 3, 0; e is a fifth of it; weights 1/2 : 3^-0.2 / 2 : 1
  //   row 3: row 1 alone
  const float l2 = std::log(2.0F), l3 = std::log(3.0F), second = std::pow(3.0F, -0.2F) / 2;
  const std::vector<float> values = {8, 4, 100, 16, l3, 0, -5 * l2, -l3, 0, 0, 0, 5 * l2};
  Tape<float> tape;
  tape.begin(values, {});
  const Var y = neighbour_attention(tape, tape.parameter({0, 4, 1}), tape.parameter({4, 4, 2}), neighbours);
  const auto found = tape.value(y).all();
  EXPECT_FLOAT_EQ(found[0], 0.75F * 8 + 0.25F * 4);
  EXPECT_FLOAT_EQ(found[1], (0.5F * 8 + second * 4 + 16) / (1.5F + second));
  EXPECT_EQ(found[2], 0);
  EXPECT_FLOAT_EQ(found[3], 4);
}

TEST(NeighbourAttention, HasTheGradientsOfItsFormula) {
  for (const std::size_t columns : {1, 19})
    check_network({{4, columns}, {4, 2}}, [](auto& tape, std::span<const Var> v) {
      const Var once = neighbour_attention(tape, v[0], v[1], neighbours);
      return Vars{neighbour_attention(tape, once, v[1], neighbours), once};
    });
}

TEST(NeighbourAttention, HasTheGradientOfItsScoresAlsoForAConstant) {
  const std::vector<double> fixed = random_values<double>(4 * 3, 7);
  test::expect_right_gradients({{4, 2}}, [&](Tape<double>& tape, std::span<const Var> v) {
    return Vars{neighbour_attention(tape, tape.constant({fixed.data(), 4, 3}), v[0], neighbours)};
  });
}

TEST(SparseOps, RefuseRowsThatAreNot) {
  const std::vector<float> values(12);
  Tape<float> tape;
  tape.begin(values, {});
  const Var x = tape.parameter({0, 3, 4});
  const std::vector<std::uint32_t> good = {0}, bad = {3};
  EXPECT_THROW(product_of_rows(tape, x, good, bad), BugError);
  EXPECT_THROW(symmetric_product(tape, lists, weights, x), BugError);
  EXPECT_THROW(scale_rows(tape, x, x), BugError);
  EXPECT_THROW(neighbour_attention(tape, x, tape.parameter({0, 3, 2}), lists), BugError);
  EXPECT_THROW(neighbour_attention(tape, x, x, Lists{.begin = {0, 0, 0, 0}, .items = {}}), BugError);
  EXPECT_THROW(neighbour_attention(tape, x, tape.parameter({0, 3, 2}), Lists{.begin = {0, 1, 1, 1}, .items = {3}}),
               BugError);
}

TEST(AddNorm, HasTheGradientsOfItsFormulaAlsoForTwiceTheSame) {
  const auto epsilon = [](auto& tape) {
    using T = std::remove_cvref_t<decltype(*tape.value(Var{0}).data)>;
    return static_cast<T>(1e-5);
  };
  for (const std::size_t columns : {7, 40})
    check_network({{3, columns}, {3, columns}, {1, columns}, {1, columns}}, [=](auto& tape, std::span<const Var> v) {
      const Var sum = add_norm(tape, v[0], v[1], v[2], v[3], epsilon(tape));
      return Vars{add_norm(tape, sum, v[0], v[2], v[3], epsilon(tape)),
                  add_norm(tape, sum, sum, v[2], v[3], epsilon(tape))};
    });
}

TEST(ResidualLinear, HasTheGradientsOfItsFormula) {
  check_network({{4, 6}, {6, 6}, {1, 6}}, [](auto& tape, std::span<const Var> v) {
    const Var once = residual_linear(tape, v[0], v[1], v[2]);
    return Vars{residual_linear(tape, once, v[1], v[2])};
  });
}

TEST(Project, HasTheGradientsOfItsFormula) {
  for (const Activation activation : {Activation::none, Activation::sigmoid})
    for (const std::size_t columns : {1, 19})
      check_network({{4, columns}, {columns, 1}, {1, 1}}, [=](auto& tape, std::span<const Var> v) {
        const Var scaled = scale_rows(tape, v[0], project(tape, v[0], v[1], v[2], activation));
        return Vars{project(tape, scaled, v[1], v[2], activation), scaled};
      });
}

}  // namespace
}  // namespace emplace::nn::sparse_test
