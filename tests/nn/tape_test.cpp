#include "nn/tape/tape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "emplace/base/error.hpp"
#include "tests/nn/gradient_check.hpp"

namespace emplace::nn::tape_test {
namespace {

using ::testing::ElementsAre;

TEST(Tape, AddsToGradientsThatAreThere) {
  const std::vector<double> values = {2, 3};
  std::vector<double> gradient = {10, 20};
  Tape<double> tape;
  tape.begin(values, gradient);
  const Var x = tape.parameter({0, 1, 2});
  tape.gradient(scale(tape, x, 4.0)).data[1] += 1;
  tape.backward();
  EXPECT_THAT(gradient, ElementsAre(10, 24));
}

TEST(Tape, SkipsWhatNoSeedDependsOn) {
  const std::vector<double> values = {2};
  std::vector<double> gradient(1);
  Tape<double> tape;
  tape.begin(values, gradient);
  const Var x = tape.parameter({0, 1, 1});
  const Var used = scale(tape, x, 3.0);
  scale(tape, used, 5.0);
  tape.gradient(used).data[0] = 1;
  tape.backward();
  EXPECT_THAT(gradient, ElementsAre(3));
}

TEST(Tape, TellsTheGradientOfAVariableButNotOfAConstant) {
  const std::vector<double> two = {2};
  Tape<double> tape;
  tape.begin({}, {});
  const Var variable = tape.variable({two.data(), 1, 1});
  const Var constant = tape.constant({two.data(), 1, 1});
  const Var y = matmul(tape, variable, constant);
  tape.gradient(y).data[0] = 1;
  tape.backward();
  EXPECT_EQ(tape.gradient(variable).data[0], 2);
  EXPECT_THROW(tape.gradient(constant), BugError);
}

TEST(Tape, RefusesASecondBackwardAndOpsAfterIt) {
  const std::vector<double> values = {2};
  std::vector<double> gradient(1);
  Tape<double> tape;
  tape.begin(values, gradient);
  const Var x = tape.parameter({0, 1, 1});
  tape.gradient(scale(tape, x, 3.0)).data[0] = 1;
  tape.backward();
  EXPECT_THROW(tape.backward(), BugError);
  EXPECT_THROW(scale(tape, x, 3.0), BugError);
  tape.begin(values, gradient);
  EXPECT_NO_THROW(tape.backward());
}

TEST(Tape, RefusesParametersBeyondTheValues) {
  const std::vector<double> values(6);
  Tape<double> tape;
  tape.begin(values, {});
  EXPECT_NO_THROW(tape.parameter({3, 1, 3}));
  EXPECT_THROW(tape.parameter({3, 2, 2}), BugError);
  EXPECT_THROW(tape.parameter({7, 0, 0}), BugError);
}

TEST(Tape, RefusesValuesThatAreNotOnIt) {
  const std::vector<double> values(6);
  Tape<double> tape;
  tape.begin(values, {});
  tape.parameter({0, 1, 3});
  const Var later = tape.parameter({3, 1, 3});
  tape.begin(values, {});
  EXPECT_THROW(tape.rows({}, 0, 1), BugError);
  EXPECT_THROW(tape.rows(later, 0, 1), BugError);
  EXPECT_THROW(std::ignore = tape.value(later), BugError);
  EXPECT_THROW(std::ignore = tape.wants_gradient(later), BugError);
  EXPECT_THROW(scale(tape, later, 2.0), BugError);
}

TEST(Tape, TakesAParameterWithoutElementsForNone) {
  // Behind the gradients of the weights stand those of the last parameter: an empty bias must not reach them.
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<double> gradient(values.size());
  Tape<double> tape;
  tape.begin(values, gradient);
  const Var x = tape.parameter({0, 1, 2}), weight = tape.parameter({2, 2, 2});
  const Var y = linear(tape, x, weight, tape.parameter({6, 0, 0}), Activation::none);
  EXPECT_THAT(tape.value(y).all(), ElementsAre(1 * 3 + 2 * 5, 1 * 4 + 2 * 6));
  std::ranges::fill(tape.gradient(y).all(), 1.0);
  tape.backward();
  EXPECT_THAT(gradient, ElementsAre(7, 11, 1, 1, 2, 2, 0, 0, 0));

  const std::vector<double> large(40, 0.1);
  std::vector<double> of_none(large.size()), of_empty(large.size());
  for (auto* slopes : {&of_none, &of_empty}) {
    tape.begin(large, *slopes);
    const Var empty = slopes == &of_none ? Var{} : tape.parameter({20, 0, 0});
    const LstmVars vars{tape.parameter({0, 2, 2}), tape.parameter({4, 4, 8}), empty, empty, empty, empty};
    std::ranges::fill(tape.gradient(lstm(tape, vars, {.batch = 1}).hidden).all(), 1.0);
    tape.backward();
  }
  EXPECT_EQ(of_none, of_empty);
  EXPECT_NE(of_none, std::vector<double>(large.size()));
}

TEST(Tape, UsesTheMemoryOfGradientsThatItNeedsNoMoreAgain) {
  // A chain of sums: at any time only two gradients are needed, of a result and of its input.
  constexpr std::size_t width = 1000, length = 50;
  const std::vector<double> values(width, 1.0);
  std::vector<double> gradient(width);
  Tape<double> tape;
  tape.begin(values, gradient);
  Var y = tape.parameter({0, 1, width});
  for (std::size_t i = 0; i < length; ++i) y = scale(tape, y, 2.0);
  for (std::size_t i = 0; i < length; ++i) y = scale(tape, y, 0.5);
  std::ranges::fill(tape.gradient(y).all(), 1.0);
  const auto* const before = static_cast<const std::byte*>(tape.bytes(1, 1));
  tape.backward();
  const auto* const after = static_cast<const std::byte*>(tape.bytes(1, 1));
  EXPECT_LE(after - before, static_cast<std::ptrdiff_t>(3 * width * sizeof(double)));
  EXPECT_THAT(gradient, ::testing::Each(1.0));
  EXPECT_THROW(tape.gradient(y), BugError);
}

TEST(Arena, GivesAlignedPiecesThatDoNotOverlap) {
  Arena arena;
  std::vector<std::span<std::uint8_t>> pieces;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t alignment = std::size_t{1} << i % 7;
    auto* const piece = static_cast<std::uint8_t*>(arena.bytes(37 * i, alignment));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % alignment, 0);
    pieces.emplace_back(piece, 37 * i);
    std::ranges::fill(pieces.back(), static_cast<std::uint8_t>(i));
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    EXPECT_TRUE(
        std::ranges::all_of(pieces[i], [&](std::uint8_t byte) { return byte == static_cast<std::uint8_t>(i); }));
}

TEST(Arena, GivesTheSameMemoryAgainAfterRelease) {
  Arena arena;
  arena.bytes(100, 64);
  const Arena::Mark mark = arena.mark();
  void* const first = arena.bytes(1000, 64);
  arena.bytes(1 << 20, 64);
  const std::size_t used = arena.used();
  arena.release(mark);
  EXPECT_LT(arena.used(), used);
  EXPECT_EQ(arena.bytes(1000, 64), first);
}

}  // namespace
}  // namespace emplace::nn::tape_test
