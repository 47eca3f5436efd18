#include "nn/kernels/kernel_set.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nn/layers/categorical.hpp"
#include "nn/layers/decoding.hpp"
#include "nn/layers/sparse.hpp"
#include "nn/tape/optimizer.hpp"
#include "tests/nn/gradient_check.hpp"
#include "tests/nn/recurrent_reference.hpp"

namespace emplace::nn::kernel_set_test {
namespace {

using test::random_values;
using Vars = std::vector<Var>;

class EveryKernelSet : public ::testing::TestWithParam<KernelSet> {
 protected:
  void SetUp() override { use_kernel_set(GetParam()); }
  void TearDown() override { use_kernel_set(kernel_sets().back()); }
};

// Everything that runs on kernels: with odd sizes.
std::vector<Shape> shapes() {
  return {{7, 5}, {5 + 9, 36}, {1, 36}, {9, 19}, {7, 19}, {7, 9}, {19, 1}, {9 + 9 + 9, 36}, {9, 3}};
}
const auto network = [](auto& tape, std::span<const Var> v) {
  const LstmResult r = lstm(tape, {v[0], v[1], v[2], {}, {}, {}}, {});
  const Var keys = add(tape, v[4], matmul(tape, r.hidden, v[3]));
  const FeedingResult f = feeding_decoder(tape, {r.hidden, v[7], {}, {}, {}, {}}, v[3], keys, v[5], v[6], {});
  const Var context = attention(tape, matmul(tape, f.hidden, v[3]), keys, v[5], v[6]);
  return Vars{f.context, linear(tape, context, v[8], {}, Activation::sigmoid),
              activate(tape, context, Activation::tanh)};
};

TEST_P(EveryKernelSet, HasTheGradientsOfTheFormulas) { test::check_network(shapes(), network); }

// x W, or x W + b, and all gradients, against sums in double.
void expect_product(std::size_t m, std::size_t k, std::size_t n, bool biased) {
  const std::string sizes = fmt::format("{} x {} times {} x {}{}", m, k, k, n, biased ? " and a bias" : "");
  const auto values = random_values<float>(m * k + k * n + n, 3);
  std::vector<float> gradient(values.size());
  Tape<float> tape;
  tape.begin(values, gradient);
  const Var bias = biased ? tape.parameter({m * k + k * n, 1, n}) : Var{};
  const Var y = linear(tape, tape.parameter({0, m, k}), tape.parameter({m * k, k, n}), bias, Activation::none);
  const auto weights = random_values<float>(m * n, 4);
  std::ranges::copy(weights, tape.gradient(y).data);
  tape.backward();
  const float *const a = values.data(), *const b = a + m * k, *const da = gradient.data(), *const db = da + m * k;
  const double off = 1e-6 * static_cast<double>(m + k + n);
  for (std::size_t i = 0; i < m; i += 3)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = biased ? b[k * n + j] : 0;
      for (std::size_t l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * b[l * n + j];
      ASSERT_NEAR(tape.value(y)(i, j), sum, off) << sizes;
    }
  for (std::size_t i = 0; i < m; i += 5)
    for (std::size_t l = 0; l < k; l += 3) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += static_cast<double>(weights[i * n + j]) * b[l * n + j];
      ASSERT_NEAR(da[i * k + l], sum, off) << sizes;
    }
  for (std::size_t l = 0; l < k; l += 7)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < m; ++i) sum += static_cast<double>(a[i * k + l]) * weights[i * n + j];
      ASSERT_NEAR(db[l * n + j], sum, off) << sizes;
    }
}

TEST_P(EveryKernelSet, MultipliesAnySizes) {
  for (const std::size_t m : {1, 2, 3, 4, 5, 7, 12, 13, 25, 200})
    for (const std::size_t k : {1, 3, 256, 257})
      for (const std::size_t n : {1, 7, 8, 9, 16, 31, 33, 129, 140}) expect_product(m, k, n, false);
}

// The right side is packed 320 rows at a time; the gradients have m and n for their inner dimension.
TEST_P(EveryKernelSet, MultipliesInnerDimensionsOfSeveralBlocks) {
  for (const std::size_t k : {320, 321, 640, 700})
    for (const std::size_t m : {1, 5, 13})
      for (const std::size_t n : {7, 33})
        for (const bool biased : {false, true}) expect_product(m, k, n, biased);
  expect_product(321, 5, 9, true);
  expect_product(5, 9, 321, true);
}

// In units of the last place of the result.
template <class T>
void expect_elementary_functions(double tolerance) {
  std::vector<T> x;
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<T>(i * 0.025));
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<T>(i * 0.0003));
  for (const double edge : {1e-30, 1e30, 87.5, 700.5, 0.0})
    x.push_back(static_cast<T>(edge)), x.push_back(static_cast<T>(-edge));
  Tape<T> tape;
  tape.begin(x, {});
  const Var in = tape.parameter({0, 1, x.size()});
  const auto tanh = tape.value(activate(tape, in, Activation::tanh));
  const auto sigmoid = tape.value(activate(tape, in, Activation::sigmoid));
  const double unit = std::numeric_limits<T>::epsilon();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = x[i];
    EXPECT_NEAR(tanh.data[i], std::tanh(exact), tolerance * unit * std::abs(std::tanh(exact))) << exact;
    // e^-88 and below are taken for 0 by float, e^-700 by double.
    const double wanted = 1 / (1 + std::exp(-exact));
    EXPECT_NEAR(sigmoid.data[i], wanted, tolerance * unit * wanted + (sizeof(T) == 4 ? 1e-37 : 1e-303)) << exact;
  }
}

TEST_P(EveryKernelSet, HasElementaryFunctionsToAFewUnitsInTheLastPlace) {
  expect_elementary_functions<float>(4);
  expect_elementary_functions<double>(4);
}

INSTANTIATE_TEST_SUITE_P(, EveryKernelSet, ::testing::ValuesIn(kernel_sets()),
                         [](const auto& set) { return std::string(name_of(set.param)); });

template <class T>
std::vector<T> results(KernelSet set) {
  use_kernel_set(set);
  const auto s = shapes();
  auto values = random_values<T>(test::total(s), 1);
  for (std::size_t i = 0; i < values.size(); i += 50) values[i] *= 25;  // some keys and queries are large
  Tape<T> tape;
  const test::Network<T> call = network;
  auto evaluation = test::evaluate<T>(tape, s, call, values, true);
  evaluation.gradient.push_back(static_cast<T>(evaluation.objective));
  use_kernel_set(kernel_sets().back());
  return evaluation.gradient;
}

std::vector<KernelSet> vector_sets() {
  std::vector<KernelSet> sets = kernel_sets();
  std::erase(sets, KernelSet::reference);
  std::erase(sets, KernelSet::plain);
  return sets;
}

TEST(KernelSets, GiveTheSameBits) {
  if (vector_sets().empty()) GTEST_SKIP() << "needs a processor with vector kernels";
  for (const KernelSet set : vector_sets()) {
    EXPECT_EQ(results<float>(set), results<float>(KernelSet::plain)) << name_of(set);
    EXPECT_EQ(results<double>(set), results<double>(KernelSet::plain)) << name_of(set);
  }
}

// Rows of few and of many vectors, with masks; lists of few and of many rows, one of them empty.
template <class T>
std::vector<T> results_of_rows(KernelSet set, std::size_t columns) {
  use_kernel_set(set);
  constexpr std::size_t rows = 40;
  const std::size_t n = rows * columns;
  auto values = random_values<T>(2 * n + 2 * columns, 7, 3);
  std::vector<T> found(values.size());
  Tape<T> tape;
  tape.begin(values, found);

  const Var x = tape.parameter({n, rows, columns});
  Lists lists{.begin = {0, 0}, .items = {}};
  for (std::uint32_t r = 0; r < rows; ++r) lists.items.push_back(r * 7 % rows);
  lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t i = 0; i < 1 + r % 3; ++i) lists.items.push_back((r * 11 + i) % rows);
    lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  }
  const Var largest = segment_max(tape, x, lists);
  const Var total = segment_sum(tape, x, lists), mean = segment_mean(tape, x, lists);
  const Var normal = layer_norm<T>(tape, x, tape.parameter({2 * n, 1, columns}),
                                   tape.parameter({2 * n + columns, 1, columns}), static_cast<T>(1e-5));
  Lists band{.begin = {0}, .items = {}};  // each row and the one after it
  std::vector<double> entries;
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (const std::size_t other : {(r + rows - 1) % rows, std::size_t{r}, (r + 1) % rows}) {
      band.items.push_back(static_cast<std::uint32_t>(other));
      entries.push_back(0.01 * static_cast<double>(r + other) - (r == other ? 1 : 0));
    }
    band.begin.push_back(static_cast<std::uint32_t>(band.items.size()));
  }
  const Var combined = symmetric_product(tape, band, entries, normal);
  const Var joined = add_norm<T>(tape, combined, x, tape.parameter({2 * n, 1, columns}),
                                 tape.parameter({2 * n + columns, 1, columns}), static_cast<T>(1e-5));
  for (const Var result : {largest, total, mean, normal, joined})
    std::ranges::copy(random_values<T>(tape.value(result).size(), 8), tape.gradient(result).data);

  std::vector<std::uint8_t> allowed(n), action(rows);
  for (std::size_t i = 0; i < n; ++i) allowed[i] = i % 5 != 3 ? 1 : 0;
  std::vector<double> coefficient(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    coefficient[r] = 0.1 * static_cast<double>(r) - 2;
    while (allowed[r * columns + action[r]] == 0) ++action[r];
  }
  const auto draws = categorical<T>(tape, tape.parameter({0, rows, columns}), allowed);
  seed<T>(tape, draws, action, coefficient, 0.3);
  tape.backward();

  const auto keep = [&](auto span) {
    for (const auto each : span) found.push_back(static_cast<T>(each));
  };
  keep(draws.probability.all());
  keep(draws.entropy);
  keep(draws.log_normalizer);
  for (const Var result : {largest, total, mean}) keep(tape.value(result).all());
  keep(tape.value(normal).all());
  keep(tape.value(joined).all());
  use_kernel_set(kernel_sets().back());
  return found;
}

constexpr std::size_t columns_of_rows[] = {5, 37, 150, 200};

TEST(KernelSets, GiveRowsTheSameBits) {
  if (vector_sets().empty()) GTEST_SKIP() << "needs a processor with vector kernels";
  for (const std::size_t columns : columns_of_rows) {
    const auto plain = results_of_rows<float>(KernelSet::plain, columns);
    const auto wide = results_of_rows<double>(KernelSet::plain, columns);
    for (const KernelSet set : vector_sets()) {
      EXPECT_EQ(results_of_rows<float>(set, columns), plain) << name_of(set) << " " << columns;
      EXPECT_EQ(results_of_rows<double>(set, columns), wide) << name_of(set) << " " << columns;
    }
  }
}

TEST(KernelSets, GiveRowsAsTheReferenceDoes) {
  for (const std::size_t columns : columns_of_rows) {
    const auto plain = results_of_rows<float>(KernelSet::plain, columns);
    const auto wide = results_of_rows<double>(KernelSet::plain, columns);
    const auto reference = results_of_rows<double>(KernelSet::reference, columns);
    for (std::size_t i = 0; i < wide.size(); ++i) ASSERT_NEAR(wide[i], reference[i], 1e-12) << columns << " " << i;
    const auto short_reference = results_of_rows<float>(KernelSet::reference, columns);
    for (std::size_t i = 0; i < plain.size(); ++i)
      ASSERT_NEAR(plain[i], short_reference[i], 1e-5 * std::max(1.0F, std::abs(plain[i]))) << columns << " " << i;
  }
}

TEST(KernelSets, TakeTheSameStepsOfAdam) {
  const auto gradient = random_values<float>(101, 5);
  const auto stepped = [&](KernelSet set) {
    use_kernel_set(set);
    auto values = random_values<float>(101, 6);
    Optimizer adam{OptimizerOptions{}};
    for (int i = 0; i < 3; ++i) adam.step(values, gradient);
    use_kernel_set(kernel_sets().back());
    return values;
  };
  for (const KernelSet set : kernel_sets()) EXPECT_EQ(stepped(set), stepped(KernelSet::reference)) << name_of(set);
}

TEST(KernelSets, GiveARowTheSameBitsWhateverRowsAreBesideIt) {
  const std::size_t rows = 205, k = 300, n = 70;
  const auto values = random_values<float>((rows + n) * k, 5);
  for (const KernelSet set : kernel_sets()) {
    if (set == KernelSet::reference) continue;
    use_kernel_set(set);
    Tape<float> tape;
    tape.begin(values, {});
    const Var weight = tape.parameter({rows * k, k, n});
    const auto whole = tape.value(matmul(tape, tape.parameter({0, rows, k}), weight));
    for (const std::size_t count : {1, 2, 5, 13, 100})
      for (std::size_t begin = 0; begin + count <= rows; begin += 29) {
        const auto part = tape.value(matmul(tape, tape.parameter({begin * k, count, k}), weight));
        for (std::size_t i = 0; i < part.size(); ++i)
          ASSERT_EQ(part.data[i], whole.data[begin * n + i]) << name_of(set);
      }
  }
  use_kernel_set(kernel_sets().back());
}

// [h, c, context, probability] of `count` of 13 samples from `first` on.
std::vector<float> decoded(std::size_t first, std::size_t count) {
  const std::size_t h = 37, r = 5, m = 21, devices = 19;
  const auto values = random_values<float>((r + h) * 4 * h + 2 * m * h + h + h * devices, 5);
  const auto state = random_values<float>(13 * (6 * h + r), 6);
  Tape<float> tape;
  tape.begin(values, {});
  auto weight = [&, begin = std::size_t{0}](std::size_t rows, std::size_t columns) mutable {
    const Matrix<const float> matrix{values.data() + begin, rows, columns};
    begin += matrix.size();
    return matrix;
  };
  const LstmStep<float> lstm_step(tape, weight(r + h, 4 * h), count);
  const auto keys = weight(m, h), memory = weight(m, h);
  const AttentionStep<float> attend(tape, keys, memory, weight(h, 1), count);
  const LinearStep<float> output(tape, weight(h, devices), {}, Activation::tanh);
  const auto part = [&](std::size_t begin, std::size_t columns) {
    const Matrix<float> copy = tape.matrix(count, columns);
    std::ranges::copy(std::span(state).subspan(13 * begin + first * columns, copy.size()), copy.data);
    return copy;
  };
  const Matrix<float> gates = part(0, 4 * h), hidden = part(4 * h, h), cell = part(5 * h, h);
  const Matrix<float> context = tape.matrix(count, h), logits = tape.matrix(count, devices);
  lstm_step(gates, part(6 * h, r), hidden, cell);
  attend(hidden, context);
  output(context, logits);
  const auto draws = categorical<float>(tape, tape.constant(logits), {});
  std::vector<float> all;
  for (std::size_t b = 0; b < count; ++b)
    for (const auto& each : {Matrix<const float>(hidden), Matrix<const float>(cell), Matrix<const float>(context),
                             Matrix<const float>(draws.probability)})
      all.insert(all.end(), each.row(b).begin(), each.row(b).end());
  return all;
}

// What ranks sample must not depend on how samples are dealt out to them.
TEST(KernelSets, DecodeASampleToTheSameBitsWhateverSamplesAreBesideIt) {
  for (const KernelSet set : kernel_sets()) {
    if (set == KernelSet::reference) continue;
    use_kernel_set(set);
    const std::vector<float> whole = decoded(0, 13);
    const std::size_t one = whole.size() / 13;
    for (const std::size_t count : {1, 2, 5})
      for (std::size_t first = 0; first + count <= 13; ++first)
        EXPECT_TRUE(std::ranges::equal(decoded(first, count), std::span(whole).subspan(first * one, count * one)))
            << name_of(set) << ": " << count << " from " << first;
  }
  use_kernel_set(kernel_sets().back());
}

TEST(KernelSets, HaveNames) {
  EXPECT_EQ(name_of(kernel_sets().front()), "reference");
  EXPECT_EQ(kernel_set(), kernel_sets().back());
}

}  // namespace
}  // namespace emplace::nn::kernel_set_test
