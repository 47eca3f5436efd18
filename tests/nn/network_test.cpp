// A whole small network: encoder in both directions, decoder with input feeding, categorical heads, Adam.
#include <gtest/gtest.h>

#include <cmath>

#include "nn/layers/decoding.hpp"
#include "nn/layers/ops.hpp"
#include "nn/tape/optimizer.hpp"
#include "tests/nn/gradient_check.hpp"
#include "tests/support/allocations.hpp"

namespace emplace::nn::network_test {
namespace {

using test::random_values;

constexpr std::size_t steps = 7, batch = 3, features = 5, hidden = 6, width = 4, devices = 3;

struct Network {
  ParameterLayout layout;
  Slice forward = add("forward", features + hidden, 4 * hidden),
        backward = add("backward", features + hidden, 4 * hidden);
  Slice bias = add("bias", 1, 4 * hidden), keys = add("keys", 2 * hidden, width), v = add("v", width, 1);
  Slice embedding = add("embedding", devices, features), gain = add("gain", 1, features),
        shift = add("shift", 1, features);
  Slice decoder = add("decoder", features + 3 * hidden, 4 * hidden), query = add("query", hidden, width);
  Slice out = add("out", hidden, devices), out_bias = add("out_bias", 1, devices);
  std::vector<std::uint32_t> index;
  std::vector<std::uint8_t> actions, allowed;
  std::vector<double> coefficients;
  Lists neighbours{.begin = {0, 2, 2, 3, 5, 6, 7, 9}, .items = {0, 3, 2, 1, 6, 5, 5, 4, 0}};

  Slice add(const char* name, std::size_t rows, std::size_t columns) {
    return layout.add(name, rows, columns, uniform(0.5));
  }

  Network() {
    Stream random({.seed = 3, .purpose = Purpose::test, .update = 1, .index = 0});
    for (std::size_t i = 0; i < steps * batch; ++i) {
      index.push_back(random.below(devices));
      actions.push_back(static_cast<std::uint8_t>(random.below(2)));
      coefficients.push_back(random.uniform() - 0.5);
      allowed.insert(allowed.end(), {1, 1, static_cast<std::uint8_t>(i % 2)});
    }
  }

  // sum of coefficients times log-probabilities + 0.1 times the entropies; the gradient is added.
  template <class T>
  double objective(Tape<T>& tape, std::span<const T> input, std::span<const T> values, std::span<T> gradient) const {
    tape.begin(values, gradient);
    const auto parameter = [&](const Slice& slice) { return tape.parameter(slice); };
    const Var nodes = segment_max(tape, tape.constant({input.data(), steps, features}), neighbours);
    const Var x = layer_norm(tape, nodes, parameter(gain), parameter(shift), static_cast<T>(1e-3));
    const LstmVars there{x, parameter(forward), parameter(bias), {}, {}, {}};
    const LstmVars back{x, parameter(backward), {}, {}, {}, {}};
    const LstmResult memory = bidirectional_lstm(tape, there, back, 1);
    const LstmVars decode{gather_rows(tape, parameter(embedding), index), parameter(decoder), {}, {}, {}, {}};
    const FeedingResult r =
        feeding_decoder(tape, decode, parameter(query), matmul(tape, memory.hidden, parameter(keys)), memory.hidden,
                        parameter(v), {.batch = batch});
    const Var logits = linear(tape, r.hidden, parameter(out), parameter(out_bias), Activation::none);
    const auto rows = categorical(tape, squash(tape, logits, T{3}, T{1}), allowed);
    double sum = 0;
    for (std::size_t i = 0; i < actions.size(); ++i)
      sum += coefficients[i] * rows.log_probability(i, actions[i]) + 0.1 * rows.entropy[i];
    if (!gradient.empty()) {
      seed<T>(tape, rows, actions, coefficients, 0.1);
      tape.backward();
    }
    return sum;
  }
};

TEST(Network, HasTheDirectionalDerivativesOfItsGradient) {
  const Network network;
  const auto input = random_values<double>(steps * features, 1);
  std::vector<double> values(network.layout.size()), gradient(values.size());
  network.layout.initialize<double>(values, 1);
  Tape<double> tape;
  network.objective<double>(tape, input, values, gradient);
  for (std::uint32_t d = 0; d < 10; ++d) {
    const auto direction = random_values<double>(values.size(), 100 + d, 0.3);
    double slope = 0;
    for (std::size_t i = 0; i < values.size(); ++i) slope += gradient[i] * direction[i];
    const double wanted = test::slope_at_zero([&](double step) {
      std::vector<double> moved = values;
      for (std::size_t i = 0; i < values.size(); ++i) moved[i] += step * direction[i];
      return network.objective<double>(tape, input, moved, {});
    });
    EXPECT_NEAR(slope, wanted, 1e-6 * std::abs(wanted)) << d;
  }
}

TEST(Network, InFloatAgreesWithDouble) {
  const Network network;
  const auto input = random_values<float>(steps * features, 1);
  const std::vector<double> wide_input(input.begin(), input.end());
  std::vector<float> values(network.layout.size()), gradient(values.size());
  network.layout.initialize<float>(values, 1);
  const std::vector<double> wide(values.begin(), values.end());
  std::vector<double> wanted(wide.size());
  Tape<float> tape;
  Tape<double> wide_tape;
  EXPECT_NEAR(network.objective<float>(tape, input, values, gradient),
              network.objective<double>(wide_tape, wide_input, wide, wanted), 1e-4);
  double largest = 0;
  for (const double g : wanted) largest = std::max(largest, std::abs(g));
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(gradient[i], wanted[i], 1e-4 * largest) << i;
}

TEST(Network, LearnsAndAllocatesNothingAfterItsFirstSteps) {
  const Network network;
  const auto input = random_values<float>(steps * features, 1);
  std::vector<float> values(network.layout.size()), gradient(values.size());
  network.layout.initialize<float>(values, 1);
  OptimizerOptions options;
  options.learning_rate = 0.01;
  Optimizer adam(options);
  Tape<float> tape;
  double first = 0, last = 0;
  std::size_t before = 0;
  for (int step = 0; step < 30; ++step) {
    // The second step joins the blocks of the arena into one.
    if (step == 2) before = emplace::test::allocations();
    std::ranges::fill(gradient, 0.0F);
    last = network.objective<float>(tape, input, values, gradient);
    if (step == 0) first = last;
    for (float& g : gradient) g = -g;
    adam.step(values, gradient);
  }
  EXPECT_EQ(emplace::test::allocations(), before);
  EXPECT_GT(before, 0);
  EXPECT_GT(last, first + 0.5);
}

TEST(Decoding, AllocatesNothingAStep) {
  const auto values = random_values<float>(2000, 1);
  Tape<float> tape;
  tape.begin(values, {});
  const LstmStep<float> step(tape, {values.data(), 8, 16}, 2);
  const AttentionStep<float> attend(tape, {values.data(), 5, 4}, {values.data(), 5, 3}, {values.data(), 4, 1}, 2);
  const LinearStep<float> out(tape, {values.data(), 4, 9}, {}, Activation::none);
  const auto x = tape.matrix(2, 4), h = tape.matrix(2, 4), c = tape.matrix(2, 4), context = tape.matrix(2, 3);
  const auto y = tape.matrix(2, 9), gates = tape.matrix(2, 16);
  for (const auto& zeroed : {x, h, c, gates}) std::ranges::fill(zeroed.all(), 0.0F);
  const std::size_t before = emplace::test::allocations();
  for (int i = 0; i < 3; ++i) {
    step(gates, x, h, c);
    attend(h, context);
    out(h, y);
  }
  EXPECT_EQ(emplace::test::allocations(), before);
}

}  // namespace
}  // namespace emplace::nn::network_test
