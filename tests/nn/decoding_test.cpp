#include "nn/layers/decoding.hpp"

#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "nn/layers/recurrent.hpp"
#include "tests/nn/gradient_check.hpp"
#include "tests/nn/recurrent_reference.hpp"

namespace emplace::nn::decoding_test {
namespace {

using test::random_values;
using Vars = std::vector<Var>;

TEST(Decoding, StepByStepHasTheBitsOfTheOpsOnWholeSequences) {
  const std::size_t steps = 5, batch = 3, f = 6, e = 19, h = 17, a = 33, m = 21, d = 4;
  // Input, weight, bias, beta, starts, query weight, keys, memory, v, weight and bias of the logits.
  const std::vector<Shape> shapes = {{steps * batch, f},
                                     {f + e + h, 4 * h},
                                     {1, 4 * h},
                                     {1, 1},
                                     {batch, h},
                                     {batch, h},
                                     {h, a},
                                     {m, a},
                                     {m, e},
                                     {a, 1},
                                     {h, d},
                                     {1, d}};
  const auto values = random_values<float>(test::total(shapes), 5, 0.5);
  Tape<float> tape;
  const Vars v = test::parameters(tape, shapes, values);
  const FeedingResult r =
      feeding_decoder(tape, {v[0], v[1], v[2], v[3], v[4], v[5]}, v[6], v[7], v[8], v[9], {.batch = batch});
  const Var logits = linear(tape, r.hidden, v[10], v[11], Activation::tanh);

  const auto value = [&](std::size_t i) { return tape.value(v[i]); };
  const auto known = tape.value(gate_sums(tape, v[0], tape.rows(v[1], 0, f), v[2], v[3]));
  const LstmStep<float> lstm_step(tape, value(1).middle(f, e + h), batch);
  const LinearStep<float> query_step(tape, value(6), {}, Activation::none);
  const LinearStep<float> logits_step(tape, value(10), value(11), Activation::tanh);
  const AttentionStep<float> attend(tape, value(7), value(8), value(9), batch);
  const auto hidden = tape.matrix(batch, h), cell = tape.matrix(batch, h), context = tape.matrix(batch, e);
  const auto gates = tape.matrix(batch, 4 * h), query = tape.matrix(batch, a), out = tape.matrix(batch, d);
  std::ranges::copy(value(4).all(), hidden.data);
  std::ranges::copy(value(5).all(), cell.data);
  std::ranges::fill(context.all(), 0.0F);
  for (std::size_t t = 0; t < steps; ++t) {
    std::ranges::copy(known.middle(t * batch, batch).all(), gates.data);
    lstm_step(gates, context, hidden, cell);
    query_step(hidden, query);
    attend(query, context);
    logits_step(hidden, out);
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t j = 0; j < h; ++j) EXPECT_EQ(hidden(b, j), tape.value(r.hidden)(t * batch + b, j));
      for (std::size_t j = 0; j < e; ++j) EXPECT_EQ(context(b, j), tape.value(r.context)(t * batch + b, j));
      for (std::size_t j = 0; j < d; ++j) EXPECT_EQ(out(b, j), tape.value(logits)(t * batch + b, j));
    }
  }
}

TEST(Decoding, WithoutBiasesStartsFromZeros) {
  const std::vector<Shape> shapes = {{1, 2}, {5, 12}};
  const auto values = random_values<double>(test::total(shapes), 5);
  Tape<double> tape;
  const Vars v = test::parameters(tape, shapes, values);
  const LstmResult r =
      lstm(tape, {.input = v[0], .weight = v[1], .bias = {}, .forget_bias = {}, .hidden = {}, .cell = {}}, {});
  const LstmStep<double> step(tape, tape.value(v[1]), 1);
  std::vector<double> gates(12), hidden(3), cell(3);
  step({gates.data(), 1, 12}, tape.value(v[0]), {hidden.data(), 1, 3}, {cell.data(), 1, 3});
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(hidden[j], tape.value(r.hidden).data[j], 1e-15);
    EXPECT_NEAR(cell[j], tape.value(r.last_cell).data[j], 1e-15);
  }
}

TEST(Decoding, RefusesShapesThatDoNotFit) {
  const auto values = random_values<double>(200, 5);
  Tape<double> tape;
  tape.begin(values, {});
  const Matrix<const double> weight{values.data(), 5, 12}, keys{values.data(), 4, 3}, memory{values.data(), 5, 3};
  std::vector<double> out(30);
  EXPECT_THROW(LstmStep<double>(tape, {values.data(), 2, 12}, 1), BugError);
  const Matrix<double> gates{out.data(), 1, 12}, state{out.data() + 12, 1, 3}, narrow{out.data() + 12, 1, 2};
  const LstmStep<double> step(tape, weight, 1);
  EXPECT_NO_THROW(step(gates, {values.data(), 1, 2}, state, state));
  EXPECT_THROW(step(gates, keys, state, state), BugError);
  EXPECT_THROW(step(gates, {}, state, state), BugError);
  EXPECT_THROW(step({out.data(), 1, 8}, {values.data(), 1, 2}, state, state), BugError);
  EXPECT_THROW(step(gates, {values.data(), 1, 2}, narrow, state), BugError);
  EXPECT_THROW(LinearStep<double>(tape, weight, {values.data(), 1, 5}, Activation::none), BugError);
  // Refused before the bias is copied: a result of 1 x 12 is wanted.
  std::vector<double> kept = out;
  EXPECT_THROW(LinearStep<double>(tape, weight, {values.data(), 1, 12}, Activation::none)({values.data(), 1, 5},
                                                                                          {out.data(), 1, 3}),
               BugError);
  EXPECT_EQ(out, kept);
  EXPECT_THROW(AttentionStep<double>(tape, keys, memory, {values.data(), 3, 1}, 1), BugError);
}

}  // namespace
}  // namespace emplace::nn::decoding_test
