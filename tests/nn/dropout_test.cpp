#include "nn/layers/dropout.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/layers/layers.hpp"
#include "tests/nn/gradient_check.hpp"

namespace emplace::nn::dropout_test {
namespace {

using test::check_network;
using Vars = std::vector<Var>;

StreamKey key(std::uint32_t index) { return {.seed = 3, .purpose = Purpose::dropout, .index = index}; }

template <class T>
Vars network(Tape<T>& tape, std::span<const Var> v, double rate, Stream& masks) {
  const Dropout dropout{rate, &masks};
  const Var h = linear_relu_drop(tape, v[0], v[1], v[2], dropout);
  return {norm_relu_drop(tape, h, v[2], v[2], static_cast<T>(1e-2), dropout), h};
}

TEST(Dropout, HasTheGradientsOfItsFormulas) {
  for (const double rate : {0.0, 0.2, 0.7})
    check_network({{6, 5}, {5, 19}, {1, 19}}, [=](auto& tape, std::span<const Var> v) {
      Stream masks(key(1));
      return network(tape, v, rate, masks);
    });
}

// Values of a linear layer of ones on ones: 1 each before dropout.
std::vector<float> dropped(double rate, Stream* masks, std::size_t rows = 500, std::size_t columns = 37) {
  const std::vector<float> values(rows + 2 * columns, 1.0F);
  Tape<float> tape;
  tape.begin(values, {});
  const Var none = scale(tape, tape.parameter({rows + columns, 1, columns}), 0.0F);
  const Var y =
      linear_relu_drop(tape, tape.parameter({0, rows, 1}), tape.parameter({rows, 1, columns}), none, {rate, masks});
  return {tape.value(y).all().begin(), tape.value(y).all().end()};
}

TEST(Dropout, KeepsItsShareAndScalesItUp) {
  for (const double rate : {0.05, 0.2, 0.5}) {
    Stream masks(key(2));
    double sum = 0, kept = 0;
    const auto values = dropped(rate, &masks);
    for (const float value : values) {
      if (value != 0) {
        EXPECT_NEAR(value, 1 / (1 - rate), 1e-4);
      }
      sum += value;
      kept += value != 0 ? 1 : 0;
    }
    const auto count = static_cast<double>(values.size());
    EXPECT_NEAR(kept / count, 1 - rate, 5 * std::sqrt(rate * (1 - rate) / count));
    EXPECT_NEAR(sum / count, 1, 5 * std::sqrt(rate / (1 - rate) / count));
  }
}

TEST(Dropout, DropsNothingWithoutAStreamOrARate) {
  Stream masks(key(3));
  EXPECT_EQ(dropped(0.5, nullptr), std::vector<float>(500 * 37, 1.0F));
  EXPECT_EQ(dropped(0, &masks), std::vector<float>(500 * 37, 1.0F));
}

TEST(Dropout, RepeatsItsMasksForTheSameKeyAndGoesOnWithOthers) {
  Stream one(key(4)), two(key(4)), other(key(5));
  const auto first = dropped(0.5, &one);
  EXPECT_EQ(dropped(0.5, &two), first);
  EXPECT_NE(dropped(0.5, &two), first) << "the stream runs on";
  EXPECT_NE(dropped(0.5, &other), first);
}

}  // namespace
}  // namespace emplace::nn::dropout_test
