#include "nn/layers/recurrent.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/nn/gradient_check.hpp"
#include "tests/nn/recurrent_reference.hpp"

namespace emplace::nn::recurrent_test {
namespace {

using test::check_network;
using test::random_values;
using Vars = std::vector<Var>;

LstmVars lstm_vars(std::span<const Var> v) { return {v[0], v[1], v[2], v[3], v[4], v[5]}; }

// Input, weight, bias, beta, starts of h and c.
std::vector<Shape> lstm_shapes(std::size_t steps, std::size_t batch, std::size_t f, std::size_t h, bool optional) {
  const std::size_t one = optional ? 1 : 0;
  return {{steps * batch, f}, {f + h, 4 * h}, {one, 4 * h}, {one, 1}, {one * batch, h}, {one * batch, h}};
}

TEST(Lstm, HasTheGradientsOfItsFormula) {
  for (const bool reverse : {false, true})
    for (const bool optional : {false, true})
      for (const std::size_t batch : {1, 3})
        for (const std::size_t steps : {1, 4})
          check_network(lstm_shapes(steps, batch, 3, 5, optional), [=](auto& tape, std::span<const Var> v) {
            const LstmResult r = lstm(tape, lstm_vars(v), {.batch = batch, .reverse = reverse});
            return Vars{r.hidden, r.last_hidden, r.last_cell};
          });
}

TEST(Lstm, HasTheGradientsOfItsLastStateAlone) {
  check_network(lstm_shapes(3, 2, 2, 3, true), [](auto& tape, std::span<const Var> v) {
    return Vars{lstm(tape, lstm_vars(v), {.batch = 2}).last_cell};
  });
}

TEST(Lstm, AgreesWithOneStepAfterTheOther) {
  const std::size_t steps = 6, batch = 2, f = 3, h = 4;
  for (const bool reverse : {false, true})
    for (const bool optional : {false, true}) {
      const auto shapes = lstm_shapes(steps, batch, f, h, optional);
      const auto values = random_values<double>(test::total(shapes), 5);
      Tape<double> tape;
      const Vars v = test::parameters(tape, shapes, values);
      const LstmResult r = lstm(tape, lstm_vars(v), {.batch = batch, .reverse = reverse});
      const auto x = tape.value(v[0]), w = tape.value(v[1]);
      test::LstmState state(batch, h);
      if (optional) {
        std::ranges::copy(tape.value(v[4]).all(), state.h.begin());
        std::ranges::copy(tape.value(v[5]).all(), state.c.begin());
      }
      for (std::size_t s = 0; s < steps; ++s) {
        const std::size_t t = reverse ? steps - 1 - s : s;
        test::lstm_step_reference(x.middle(t * batch, batch), w, optional ? tape.value(v[2]).data : nullptr,
                                  optional ? *tape.value(v[3]).data : 0, state);
        for (std::size_t i = 0; i < batch * h; ++i)
          EXPECT_NEAR(tape.value(r.hidden).data[t * batch * h + i], state.h[i], 1e-14);
      }
      for (std::size_t i = 0; i < batch * h; ++i) {
        EXPECT_NEAR(tape.value(r.last_hidden).data[i], state.h[i], 1e-14);
        EXPECT_NEAR(tape.value(r.last_cell).data[i], state.c[i], 1e-14);
      }
    }
}

// The same from gate sums: those of a table, of which every step reads some row.
TEST(Lstm, ReadsSumsOfItsGatesToTheSameBits) {
  const std::size_t batch = 2, f = 3, h = 5;
  const std::vector<std::uint32_t> read = {0, 2, 1, 1, 3, 0, 2, 2};
  for (const bool reverse : {false, true})
    for (const bool optional : {false, true}) {
      auto shapes = lstm_shapes(read.size() / batch, batch, f, h, optional);
      shapes[0] = {4, f};  // the table
      const auto both = [&](auto& tape, std::span<const Var> v) {
        LstmVars vars = lstm_vars(v);
        vars.input = gather_rows(tape, v[0], read);
        const LstmResult whole = lstm(tape, vars, {.batch = batch, .reverse = reverse});
        vars.input = gather_rows(tape, gate_sums(tape, v[0], tape.rows(v[1], 0, f), v[2], v[3]), read);
        vars.weight = tape.rows(v[1], f, h);
        vars.bias = vars.forget_bias = {};
        const LstmResult parts = lstm(tape, vars, {.batch = batch, .reverse = reverse, .summed = true});
        return std::pair{whole, parts};
      };
      const auto values = random_values<float>(test::total(shapes), 5);
      Tape<float> tape;
      const auto [whole, parts] = both(tape, test::parameters(tape, shapes, values));
      for (std::size_t i = 0; i < read.size() * h; ++i)
        EXPECT_EQ(tape.value(whole.hidden).data[i], tape.value(parts.hidden).data[i]);
      check_network(shapes, [&](auto& any, std::span<const Var> v) {
        const LstmResult r = both(any, v).second;
        return Vars{r.hidden, r.last_cell};
      });
    }
}

TEST(GateSums, RefusesShapesThatDoNotFit) {
  const auto values = random_values<double>(200, 5);
  Tape<double> tape;
  tape.begin(values, {});
  const Var x = tape.parameter({0, 2, 3}), weight = tape.parameter({6, 3, 8}), bias = tape.parameter({30, 1, 4});
  EXPECT_NO_THROW(gate_sums(tape, x, weight, {}, {}));
  EXPECT_THROW(gate_sums(tape, x, tape.parameter({6, 2, 8}), {}, {}), BugError);
  EXPECT_THROW(gate_sums(tape, x, tape.parameter({6, 3, 6}), {}, {}), BugError);
  EXPECT_THROW(gate_sums(tape, x, weight, bias, {}), BugError);
  EXPECT_THROW(gate_sums(tape, x, weight, {}, bias), BugError);
  const LstmVars with_bias{
      tape.parameter({0, 2, 8}), tape.parameter({16, 2, 8}), tape.parameter({40, 1, 8}), {}, {}, {}};
  EXPECT_THROW(lstm(tape, with_bias, {.summed = true}), BugError);
  const LstmVars of_rows{x, tape.parameter({16, 2, 8}), {}, {}, {}, {}};
  EXPECT_THROW(lstm(tape, of_rows, {.summed = true}), BugError);
}

TEST(Lstm, RefusesRowsThatAreNoWholeSteps) {
  const auto shapes = lstm_shapes(5, 1, 2, 3, false);
  const auto values = random_values<double>(test::total(shapes), 5);
  Tape<double> tape;
  const Vars v = test::parameters(tape, shapes, values);
  EXPECT_THROW(lstm(tape, lstm_vars(v), {.batch = 2}), BugError);
  EXPECT_THROW(lstm(tape, lstm_vars(v), {.batch = 0}), BugError);
}

TEST(BidirectionalLstm, JoinsBothDirections) {
  std::vector<Shape> shapes = lstm_shapes(4, 2, 3, 2, true);
  const auto other = lstm_shapes(4, 2, 3, 3, true);
  shapes.insert(shapes.end(), other.begin(), other.end());
  check_network(shapes, [](auto& tape, std::span<const Var> v) {
    const LstmResult r = bidirectional_lstm(tape, lstm_vars(v), lstm_vars(v.subspan(6)), 2);
    EXPECT_EQ(tape.value(r.hidden).shape(), (Shape{8, 5}));
    EXPECT_EQ(tape.value(r.last_cell).shape(), (Shape{2, 5}));
    return Vars{r.hidden, r.last_hidden, r.last_cell};
  });
}

TEST(Attention, HasTheGradientsOfItsFormula) {
  for (const std::size_t n : {1, 3, 5})
    for (const std::size_t m : {1, 4})
      check_network({{n, 7}, {m, 7}, {m, 3}, {7, 1}},
                    [](auto& tape, std::span<const Var> v) { return Vars{attention(tape, v[0], v[1], v[2], v[3])}; });
}

// Queries, keys and v with some elements beyond what products of exponentials can hold.
std::vector<double> large_values(std::size_t count) {
  auto values = random_values<double>(count, 9);
  for (std::size_t i = 0; i < count; i += 5) values[i] *= 60;
  return values;
}

TEST(Attention, AgreesWithTanhOneByOneAlsoForLargeKeysAndQueries) {
  const std::size_t n = 4, m = 6, a = 5, e = 3;
  const std::vector<Shape> shapes = {{n, a}, {m, a}, {m, e}, {a, 1}};
  for (const bool large : {false, true}) {
    const auto values = large ? large_values(test::total(shapes)) : random_values<double>(test::total(shapes), 9);
    Tape<double> tape;
    const Vars v = test::parameters(tape, shapes, values);
    const auto context = tape.value(attention(tape, v[0], v[1], v[2], v[3]));
    for (std::size_t t = 0; t < n; ++t) {
      const auto wanted =
          test::attend_reference(tape.value(v[0]).row(t), tape.value(v[1]), tape.value(v[2]), tape.value(v[3]).all());
      for (std::size_t j = 0; j < e; ++j) EXPECT_NEAR(context(t, j), wanted[j], 1e-13);
    }
  }
}

TEST(Attention, InFloatAgreesWithDoubleForLargeKeysAndQueries) {
  const std::vector<Shape> shapes = {{4, 5}, {6, 5}, {6, 3}, {5, 1}};
  check_network(
      shapes, [](auto& tape, std::span<const Var> v) { return Vars{attention(tape, v[0], v[1], v[2], v[3])}; },
      large_values(test::total(shapes)));
}

// The LSTM's six, then query weight, keys, memory, v.
std::vector<Shape> feeding_shapes(std::size_t steps, std::size_t batch, bool optional) {
  const std::size_t f = 2, h = 3, a = 5, m = 4, e = 2;
  std::vector<Shape> shapes = lstm_shapes(steps, batch, f, h, optional);
  shapes[1].rows += e;
  for (const Shape& shape : {Shape{h, a}, Shape{m, a}, Shape{m, e}, Shape{a, 1}}) shapes.push_back(shape);
  return shapes;
}

TEST(FeedingDecoder, HasTheGradientsOfItsFormula) {
  for (const bool optional : {false, true})
    for (const std::size_t batch : {1, 3})
      for (const std::size_t steps : {1, 4})
        check_network(feeding_shapes(steps, batch, optional), [=](auto& tape, std::span<const Var> v) {
          const FeedingResult r = feeding_decoder(tape, lstm_vars(v), v[6], v[7], v[8], v[9], {.batch = batch});
          return Vars{r.hidden, r.context};
        });
}

TEST(FeedingDecoder, AgreesWithOneStepAfterTheOther) {
  const std::size_t steps = 5, batch = 3, f = 2, e = 2, h = 3, a = 5;
  const auto shapes = feeding_shapes(steps, batch, true);
  const auto values = random_values<double>(test::total(shapes), 5);
  Tape<double> tape;
  const Vars v = test::parameters(tape, shapes, values);
  const FeedingResult r = feeding_decoder(tape, lstm_vars(v), v[6], v[7], v[8], v[9], {.batch = batch});
  test::LstmState state(batch, h);
  std::ranges::copy(tape.value(v[4]).all(), state.h.begin());
  std::ranges::copy(tape.value(v[5]).all(), state.c.begin());
  std::vector<double> context(batch * e);
  for (std::size_t t = 0; t < steps; ++t) {
    std::vector<double> x;
    for (std::size_t b = 0; b < batch; ++b) {
      const auto row = tape.value(v[0]).row(t * batch + b);
      x.insert(x.end(), row.begin(), row.end());
      x.insert(x.end(), context.begin() + b * e, context.begin() + (b + 1) * e);
    }
    test::lstm_step_reference({x.data(), batch, f + e}, tape.value(v[1]), tape.value(v[2]).data, *tape.value(v[3]).data,
                              state);
    for (std::size_t b = 0; b < batch; ++b) {
      std::vector<double> query(a);
      for (std::size_t j = 0; j < a; ++j)
        for (std::size_t i = 0; i < h; ++i) query[j] += state.h[b * h + i] * tape.value(v[6])(i, j);
      const auto wanted = test::attend_reference(query, tape.value(v[7]), tape.value(v[8]), tape.value(v[9]).all());
      std::ranges::copy(wanted, context.begin() + b * e);
      for (std::size_t j = 0; j < e; ++j) EXPECT_NEAR(tape.value(r.context)(t * batch + b, j), wanted[j], 1e-13);
      for (std::size_t j = 0; j < h; ++j)
        EXPECT_NEAR(tape.value(r.hidden)(t * batch + b, j), state.h[b * h + j], 1e-13);
    }
  }
}

TEST(FeedingDecoder, NamesItselfWhenShapesDoNotFit) {
  const auto shapes = feeding_shapes(2, 1, true);
  const auto values = random_values<double>(test::total(shapes), 5);
  Tape<double> tape;
  const Vars v = test::parameters(tape, shapes, values);
  EXPECT_THROW(feeding_decoder(tape, lstm_vars(v), v[6], v[8], v[7], v[9], {}), BugError);
  EXPECT_THROW(feeding_decoder(tape, lstm_vars(v), v[6], v[7], v[8], v[9], {.batch = 1, .reverse = true}), BugError);
}

}  // namespace
}  // namespace emplace::nn::recurrent_test
