#include "emplace/nn/kernel_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "emplace/nn/optimizer.hpp"
#include "nn/gradient_check.hpp"
#include "nn/recurrent_reference.hpp"

namespace emplace::nn {
namespace {

using testing::random_values;
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

TEST_P(EveryKernelSet, HasTheGradientsOfTheFormulas) { testing::check_network(shapes(), network); }

TEST_P(EveryKernelSet, MultipliesAnySizes) {
  for (const std::size_t m : {1, 2, 3, 4, 5, 7, 12, 13, 25, 200})
    for (const std::size_t k : {1, 3, 256, 257})
      for (const std::size_t n : {1, 7, 8, 9, 16, 31, 33, 129, 140}) {
        const auto values = random_values<float>(m * k + k * n, 3);
        std::vector<float> gradient(values.size());
        Tape<float> tape;
        tape.begin(values, gradient);
        const Var y = matmul(tape, tape.parameter({0, m, k}), tape.parameter({m * k, k, n}));
        const auto weights = random_values<float>(m * n, 4);
        std::ranges::copy(weights, tape.gradient(y).data);
        tape.backward();
        const float *const a = values.data(), *const b = a + m * k, *const da = gradient.data(), *const db = da + m * k;
        const double off = 1e-6 * static_cast<double>(m + k + n);
        for (std::size_t i = 0; i < m; i += 3)
          for (std::size_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::size_t l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * b[l * n + j];
            ASSERT_NEAR(tape.value(y)(i, j), sum, off) << m << " " << k << " " << n;
          }
        for (std::size_t i = 0; i < m; i += 5)
          for (std::size_t l = 0; l < k; l += 3) {
            double sum = 0;
            for (std::size_t j = 0; j < n; ++j) sum += static_cast<double>(weights[i * n + j]) * b[l * n + j];
            ASSERT_NEAR(da[i * k + l], sum, off) << m << " " << k << " " << n;
          }
        for (std::size_t l = 0; l < k; l += 7)
          for (std::size_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::size_t i = 0; i < m; ++i) sum += static_cast<double>(a[i * k + l]) * weights[i * n + j];
            ASSERT_NEAR(db[l * n + j], sum, off) << m << " " << k << " " << n;
          }
      }
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
  auto values = random_values<T>(testing::total(s), 1);
  for (std::size_t i = 0; i < values.size(); i += 50) values[i] *= 25;  // some keys and queries are large
  Tape<T> tape;
  const testing::Network<T> call = network;
  auto evaluation = testing::evaluate<T>(tape, s, call, values, true);
  evaluation.gradient.push_back(static_cast<T>(evaluation.objective));
  use_kernel_set(kernel_sets().back());
  return evaluation.gradient;
}

TEST(KernelSets, GiveTheSameBits) {
  for (const KernelSet set : kernel_sets()) {
    if (set == KernelSet::reference || set == KernelSet::plain) continue;
    EXPECT_EQ(results<float>(set), results<float>(KernelSet::plain)) << name_of(set);
    EXPECT_EQ(results<double>(set), results<double>(KernelSet::plain)) << name_of(set);
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
  Tape<float> tape;
  tape.begin(values, {});
  const Var weight = tape.parameter({rows * k, k, n});
  const auto whole = tape.value(matmul(tape, tape.parameter({0, rows, k}), weight));
  for (const std::size_t count : {1, 2, 5, 13, 100})
    for (std::size_t begin = 0; begin + count <= rows; begin += 29) {
      const auto part = tape.value(matmul(tape, tape.parameter({begin * k, count, k}), weight));
      for (std::size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part.data[i], whole.data[begin * n + i]);
    }
}

TEST(KernelSets, HaveNames) {
  EXPECT_EQ(name_of(kernel_sets().front()), "reference");
  EXPECT_EQ(kernel_set(), kernel_sets().back());
}

}  // namespace
}  // namespace emplace::nn
