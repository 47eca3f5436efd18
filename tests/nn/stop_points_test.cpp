// Long products and attention have stop points, and the same bits as without them.
#include <gmock/gmock.h>

#include "base/interrupt.hpp"
#include "nn/kernels/gemm.hpp"
#include "nn/kernels/in_parts.hpp"
#include "nn/kernels/kernels.hpp"
#include "nn/layers/scores.hpp"
#include "nn/tape/tape.hpp"
#include "tests/nn/gradient_check.hpp"

namespace emplace::nn::stop_points_test {
namespace {

std::vector<float> values(std::size_t count, std::uint64_t seed) {
  Stream random({.seed = seed});
  std::vector<float> list(count);
  for (float& value : list) value = static_cast<float>(random.uniform() - 0.5);
  return list;
}

TEST(StopPoints, DivideALongProductIntoRowsWithTheSameBits) {
  constexpr std::size_t rows = 2000, depth = 350, columns = 1024, some = 7;
  const auto a = values(rows * depth, 1), b = values(depth * columns, 2);
  std::vector<float> whole(rows * columns), part(some * columns);
  const Matrix<const float> right{b.data(), depth, columns};
  multiply<float>(Matrix<const float>{a.data(), rows, depth}, right, Matrix<float>{whole.data(), rows, columns},
                  Into::overwrite);
  for (const std::size_t begin : {std::size_t{0}, std::size_t{997}, rows - some}) {
    multiply<float>(Matrix<const float>{a.data() + begin * depth, some, depth}, right,
                    Matrix<float>{part.data(), some, columns}, Into::overwrite);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(begin * columns)));
  }
}

TEST(StopPoints, DivideLongAttentionIntoQueriesWithTheSameBits) {
  constexpr std::size_t queries = 75, keys = 2100, width = 512;
  const auto q = values(queries * width, 1), k = values(keys * width, 2), v = values(width, 3),
             d = values(queries * keys, 4);
  Tape<float> tape;
  tape.begin({}, {});
  Side<float> query = make_side(tape, queries, width), key = make_side(tape, keys, width);
  set_side(query, Matrix<const float>{q.data(), queries, width});
  set_side(key, Matrix<const float>{k.data(), keys, width});
  const auto side = [](const Side<float>& of) {
    return KernelSide<float>{of.raw.data, of.exponential.data, of.large.data(), of.raw.rows};
  };
  std::vector<float> found(queries * keys), wanted(queries * keys);
  attention_scores<float>(query, key, v.data(), {found.data(), queries, keys});
  kernels<float>().scores(side(query), side(key), v.data(), width, wanted.data());
  EXPECT_EQ(found, wanted);

  struct Gradients {
    std::vector<float> query, key, v;
  };
  Gradients ours{std::vector<float>(q.size()), std::vector<float>(k.size()), std::vector<float>(width)}, whole = ours;
  attention_scores_backward<float>(query, key, v.data(), {d.data(), queries, keys}, {ours.query.data(), queries, width},
                                   {ours.key.data(), keys, width}, ours.v.data());
  kernels<float>().scores_backward(side(query), side(key), v.data(), width, d.data(), whole.query.data(),
                                   whole.key.data(), whole.v.data());
  EXPECT_EQ(ours.query, whole.query);
  EXPECT_EQ(ours.key, whole.key);
  EXPECT_EQ(ours.v, whole.v);
}

// Each takes longer than a stop may last; all must call a stop point before the end.
TEST(StopPoints, EndLongWork) {
  std::size_t calls = 0;
  const Interruptible interruptible([&] { return ++calls > 2; });
  std::size_t done = 0;
  EXPECT_THROW(in_parts(100, std::size_t{1} << 29, 1, [&](std::size_t, std::size_t count) { done += count; }),
               Interrupted);
  EXPECT_EQ(done, 4U);  // two slices of 2^30 multiply-adds
}

}  // namespace
}  // namespace emplace::nn::stop_points_test
