#include "nn/kernels/threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cstring>
#include <stdexcept>

#include "nn/kernels/in_parts.hpp"
#include "nn/layers/dropout.hpp"
#include "nn/layers/layers.hpp"
#include "nn/layers/segment_attention.hpp"
#include "tests/nn/gradient_check.hpp"

namespace emplace::nn::threads_test {
namespace {

using test::evaluate;
using test::Evaluation;
using test::Network;
using test::random_values;
using test::total;
using Vars = std::vector<Var>;

// Uses some threads, and one again at its end.
struct Threads {
  explicit Threads(std::size_t count) { use_threads(count); }
  ~Threads() { use_threads(1); }
};

RC_GTEST_PROP(Threads, DivideAllWorkOnce, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 500), grain = *rc::gen::inRange<std::size_t>(1, 40);
  const auto cost = *rc::gen::element<std::size_t>(1, least_part / 50, least_part);
  const Threads use(*rc::gen::inRange<std::size_t>(1, 6));
  std::vector<std::atomic<int>> times(count);
  std::atomic<std::size_t> odd = 0, parts = 0;
  in_parts(count, cost, grain, [&](std::size_t begin, std::size_t n) {
    ++parts;
    if (begin % grain != 0 || n == 0) ++odd;
    for (std::size_t i = begin; i < begin + n; ++i) ++times[i];
  });
  RC_ASSERT(odd == 0U);
  RC_ASSERT(parts <= threads());
  for (const auto& each : times) RC_ASSERT(each == 1);
}

TEST(Threads, WorkAtTheSameTime) {
  const Threads use(3);
  EXPECT_EQ(threads(), 3U);
  std::atomic<int> here = 0;
  // Each part waits for the others: with fewer threads than parts this would not end.
  in_parts(3, least_part, 1, [&](std::size_t, std::size_t n) {
    EXPECT_EQ(n, 1U);
    ++here;
    while (here < 3) {
    }
  });
  EXPECT_EQ(here, 3);
}

TEST(Threads, LeaveSmallWorkAndWorkInsideWorkToOne) {
  const Threads use(3);
  std::atomic<int> small = 0, parts = 0, inner = 0;
  in_parts(3, least_part / 3 - 1, 1, [&](std::size_t, std::size_t n) { small += n == 3 ? 1 : 100; });
  EXPECT_EQ(small, 1);
  in_parts(3, least_part, 1, [&](std::size_t, std::size_t) {
    ++parts;
    in_parts(3, least_part, 1, [&](std::size_t, std::size_t n) { inner += n == 3 ? 1 : 100; });
  });
  EXPECT_EQ(parts, 3);
  EXPECT_EQ(inner, 3);
}

TEST(Threads, PassOnWhatIsThrown) {
  const Threads use(3);
  for (const std::size_t thrower : {0, 2}) {
    std::atomic<int> ended = 0;
    EXPECT_THROW(in_parts(3, least_part, 1,
                          [&](std::size_t begin, std::size_t) {
                            if (begin == thrower) throw std::runtime_error("no");
                            ++ended;
                          }),
                 std::runtime_error);
    EXPECT_EQ(ended, 2);
    std::atomic<int> parts = 0;
    in_parts(3, least_part, 1, [&](std::size_t, std::size_t) { ++parts; });
    EXPECT_EQ(parts, 3);
  }
}

// Everything that is divided, wide enough to be: results and gradients.
template <class T>
Evaluation<T> evaluate_on(std::size_t count) {
  const Threads use(count);
  constexpr std::size_t rows = 2000, width = 64;
  static_assert(rows * width * element_cost >= 5 * least_part);
  const Shape square{width, width}, row{1, width};
  const std::vector<Shape> shapes = {{rows, width},     square, row, row, {width, 3 * width}, {1, 3 * width},
                                     {3 * width, width}};
  Lists lists{.begin = {0}, .items = {}};
  for (std::uint32_t r = 0; r < rows; ++r) {
    lists.items.insert(lists.items.end(), {r, r * 7 % static_cast<std::uint32_t>(rows)});
    lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  }
  Tape<T> tape;
  const Network<T> network = [&](Tape<T>&, std::span<const Var> v) {
    Stream masks({.seed = 3, .purpose = Purpose::test, .update = 0, .index = 0});
    const Dropout dropout{.rate = 0.2, .masks = &masks};
    Var x = linear(tape, v[0], v[1], v[2], Activation::sigmoid);
    x = times(tape, x, activate(tape, residual_linear(tape, x, v[1], v[2]), Activation::tanh));
    x = add_norm(tape, x, segment_max(tape, x, lists), v[3], v[2], T(1e-5));
    const Var keys = matmul(tape, x, v[1]);
    const Var memory = product_of_constant(tape, keys, x, v[1]);
    x = nn::add(tape, x, segment_attention(tape, {x, keys, keys, memory, memory}, {.heads = 4, .segment = 128}));
    const Var wide = linear_relu_drop(tape, x, v[4], v[5], dropout);
    return Vars{norm_relu_drop(tape, matmul(tape, wide, v[6]), v[3], v[2], T(1e-5), dropout)};
  };
  return evaluate<T>(tape, shapes, network, random_values<T>(total(shapes), 1), true);
}

template <class T>
void expect_same_bits() {
  const Evaluation<T> alone = evaluate_on<T>(1);
  ASSERT_TRUE(std::ranges::any_of(alone.gradient, [](T value) { return value != 0; }));
  for (const std::size_t count : {2, 3, 5}) {
    const Evaluation<T> together = evaluate_on<T>(count);
    EXPECT_EQ(together.objective, alone.objective);
    ASSERT_EQ(together.gradient.size(), alone.gradient.size());
    EXPECT_EQ(std::memcmp(together.gradient.data(), alone.gradient.data(), alone.gradient.size() * sizeof(T)), 0)
        << count << " threads";
  }
}

TEST(Threads, ChangeNoBitOfResultsAndGradients) {
  expect_same_bits<float>();
  expect_same_bits<double>();
}

}  // namespace
}  // namespace emplace::nn::threads_test
