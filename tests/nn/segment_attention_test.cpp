#include "nn/layers/segment_attention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/nn/gradient_check.hpp"

namespace emplace::nn::segment_attention_test {
namespace {

using test::check_network;
using test::random_values;
using Vars = std::vector<Var>;

TEST(SegmentAttention, HasTheGradientsOfItsFormula) {
  for (const std::size_t rows : {1, 3, 4, 7, 8})
    for (const bool remembers : {false, true}) {
      const std::size_t memory = remembers ? rows : 0;
      check_network({{rows, 6}, {rows, 6}, {rows, 6}, {memory, 6}, {memory, 6}},
                    [](auto& tape, std::span<const Var> v) {
                      return Vars{segment_attention(tape, {v[0], v[1], v[2], v[3], v[4]}, {.heads = 2, .segment = 4})};
                    });
    }
}

// The formula as it stands, one query after the other.
std::vector<double> attend(const std::vector<double>& values, std::size_t rows, std::size_t columns, std::size_t heads,
                           std::size_t segment, bool remembers) {
  const std::size_t width = columns / heads, size = rows * columns;
  const auto at = [&](std::size_t matrix, std::size_t r, std::size_t c) {
    return values[matrix * size + r * columns + c];
  };
  std::vector<double> result(size);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t head = 0; head < heads; ++head) {
      const std::size_t begin = r / segment * segment, end = std::min(rows, begin + segment);
      const std::size_t first = remembers && begin > 0 ? begin - segment : begin;
      double sum = 0;
      for (const bool adds : {false, true})
        for (std::size_t other = first; other < end; ++other) {
          const std::size_t keys = other < begin ? 3 : 1;
          double score = 0;
          for (std::size_t c = head * width; c < (head + 1) * width; ++c) score += at(0, r, c) * at(keys, other, c);
          const double p = std::exp(score / std::sqrt(static_cast<double>(width)));
          if (!adds) sum += p;
          for (std::size_t c = head * width; adds && c < (head + 1) * width; ++c)
            result[r * columns + c] += p / sum * at(keys + 1, other, c);
        }
    }
  return result;
}

TEST(SegmentAttention, IsWhatTheFormulaSays) {
  for (const std::size_t rows : {5, 12, 14})
    for (const bool remembers : {false, true}) {
      constexpr std::size_t columns = 8;
      const std::vector<double> values = random_values<double>(5 * rows * columns, 1);
      const std::size_t memory = remembers ? rows : 0;
      const std::vector<Shape> shapes = {
          {rows, columns}, {rows, columns}, {rows, columns}, {memory, columns}, {memory, columns}};
      Tape<double> tape;
      const std::vector<Var> v = test::parameters<double>(tape, shapes, values);
      const auto result =
          tape.value(segment_attention(tape, {v[0], v[1], v[2], v[3], v[4]}, {.heads = 4, .segment = 5}));
      EXPECT_THAT(result.all(),
                  ::testing::Pointwise(::testing::DoubleNear(1e-12), attend(values, rows, columns, 4, 5, remembers)));
    }
}

TEST(SegmentAttention, RefusesHeadsThatDoNotDivideTheColumns) {
  const std::vector<double> values(12);
  Tape<double> tape;
  tape.begin(values, {});
  const Var x = tape.parameter({0, 3, 4});
  EXPECT_THROW(segment_attention(tape, {x, x, x, {}, {}}, {.heads = 3}), BugError);
}

}  // namespace
}  // namespace emplace::nn::segment_attention_test
