// The inner loops written in the simplest way, with Eigen's products and the standard library's functions, one element
// after the other. The fast kernels are compared with them.
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "nn/kernels/kernels.hpp"

namespace emplace::nn {

namespace {

template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Steps = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using View = Eigen::Map<const Dense<T>, 0, Steps>;

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

// The packed form is the matrix itself, row after row.
template <class T>
void pack(KernelMatrix<T> b, std::size_t k, std::size_t n, T* packed) {
  Eigen::Map<Dense<T>>(packed, index(k), index(n)) =
      View<T>(b.data, index(k), index(n), Steps(index(b.row_step), index(b.column_step)));
}

template <class T>
void product(KernelMatrix<T> a, std::size_t m, std::size_t k, const T* packed, std::size_t n, T* c, std::size_t c_step,
             bool add, bool) {
  const View<T> left(a.data, index(m), index(k), Steps(index(a.row_step), index(a.column_step)));
  const Eigen::Map<const Dense<T>> right(packed, index(k), index(n));
  Eigen::Map<Dense<T>, 0, Eigen::OuterStride<>> result(c, index(m), index(n), Eigen::OuterStride<>(index(c_step)));
  if (add)
    result.noalias() += left * right;
  else
    result.noalias() = left * right;
}

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
SoftmaxSums<T> softmax(const T* scores, const std::uint8_t* allowed, T* p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    p[i] = allowed == nullptr || allowed[i] != 0 ? scores[i] : -std::numeric_limits<T>::infinity();
  SoftmaxSums<T> sums{*std::max_element(p, p + n), 0, 0};
  for (std::size_t i = 0; i < n; ++i) {
    const T below = p[i] - sums.largest;
    p[i] = std::exp(below);
    sums.sum += p[i];
    if (p[i] > 0) sums.along += static_cast<double>(p[i]) * below;
    if (std::isnan(below)) sums.sum = below;
  }
  return sums;
}

template <class T>
void softmax_backward(const T* scores, const T* p, T shift, T offset, T weight, T* d, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (p[i] > 0) d[i] -= p[i] * (offset + weight * (scores[i] - shift));
}

template <class T>
void largest_rows(const T* x, const std::uint32_t* begin, const std::uint32_t* items, std::size_t lists,
                  std::size_t columns, T* out) {
  for (std::size_t r = 0; r < lists; ++r)
    for (std::size_t j = 0; j < columns; ++j) {
      out[r * columns + j] = begin[r] < begin[r + 1] ? x[items[begin[r]] * columns + j] : T{0};
      for (std::size_t i = begin[r]; i < begin[r + 1]; ++i)
        out[r * columns + j] = std::max(out[r * columns + j], x[items[i] * columns + j]);
    }
}

template <class T>
void largest_rows_backward(const T* x, const std::uint32_t* begin, const std::uint32_t* items, std::size_t lists,
                           std::size_t columns, const T* out, const T* d_out, T* d_x) {
  for (std::size_t r = 0; r < lists; ++r)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t i = begin[r]; i < begin[r + 1]; ++i)
        if (x[items[i] * columns + j] == out[r * columns + j]) {
          d_x[items[i] * columns + j] += d_out[r * columns + j];
          break;
        }
}

template <class T>
void normalize(const T* x, const T* z, const T* gain, const T* bias, T epsilon, std::size_t rows, std::size_t columns,
               T* u, T* inverse, T* y) {
  const auto count = static_cast<T>(columns);
  for (std::size_t at = 0, r = 0; r < rows; ++r, at += columns) {
    T mean = 0, variance = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      u[at + j] = x[at + j] + (z != nullptr ? z[at + j] : T{0});
      mean += u[at + j] / count;
    }
    for (std::size_t j = 0; j < columns; ++j) {
      u[at + j] -= mean;
      variance += u[at + j] * u[at + j] / count;
    }
    inverse[r] = 1 / std::sqrt(variance + epsilon);
    for (std::size_t j = 0; j < columns; ++j) {
      u[at + j] *= inverse[r];
      y[at + j] = gain[j] * u[at + j] + bias[j];
    }
  }
}

template <class T>
void normalize_backward(const T* u, const T* inverse, const T* gain, const T* after, T scale, const T* d,
                        std::size_t rows, std::size_t columns, T* du, T* dx, bool set_dx, T* dz, bool set_dz, T* d_gain,
                        T* d_bias) {
  const auto count = static_cast<T>(columns);
  for (std::size_t at = 0, r = 0; r < rows; ++r, at += columns) {
    T mean = 0, along = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      const T slope = after == nullptr ? d[at + j] : after[at + j] > 0 ? d[at + j] * scale : T{0};
      du[j] = slope * gain[j];
      if (d_gain != nullptr) d_gain[j] += slope * u[at + j];
      if (d_bias != nullptr) d_bias[j] += slope;
      mean += du[j] / count;
      along += du[j] * u[at + j] / count;
    }
    for (std::size_t j = 0; j < columns; ++j) {
      const T back = inverse[r] * (du[j] - mean - u[at + j] * along);
      if (dx != nullptr) dx[at + j] = back + (set_dx ? T{0} : dx[at + j]);
      if (dz != nullptr) dz[at + j] = back + (set_dz ? T{0} : dz[at + j]);
    }
  }
}

template <class T>
void sum_rows(const T* x, const std::uint32_t* begin, const std::uint32_t* items, std::size_t lists,
              std::size_t columns, T* out) {
  for (std::size_t r = 0; r < lists; ++r)
    for (std::size_t j = 0; j < columns; ++j) {
      T sum = 0;
      for (std::size_t i = begin[r]; i < begin[r + 1]; ++i) sum += x[items[i] * columns + j];
      out[r * columns + j] = sum;
    }
}

template <class T>
void add_column_sums(const T* x, std::size_t step, std::size_t rows, std::size_t columns, T* sums) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < columns; ++j) sums[j] += x[r * step + j];
}

template <class T>
void combine_rows(const T* x, const std::uint32_t* begin, const std::uint32_t* items, const double* values,
                  std::size_t rows, std::size_t columns, T* y, bool add) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < columns; ++j) {
      T sum = add ? y[r * columns + j] : T{0};
      for (std::size_t i = begin[r]; i < begin[r + 1]; ++i)
        sum += static_cast<T>(values[i]) * x[items[i] * columns + j];
      y[r * columns + j] = sum;
    }
}

template <class T>
void cell(T* z, const T* before, T* cell, T* squashed, T* hidden, std::size_t h) {
  for (std::size_t j = 0; j < h; ++j) {
    const T i = sigmoid(z[j]), f = sigmoid(z[h + j]), o = sigmoid(z[2 * h + j]), g = std::tanh(z[3 * h + j]);
    const T c = i * g + (before != nullptr ? f * before[j] : T{0});
    z[j] = i;
    z[h + j] = f;
    z[2 * h + j] = o;
    z[3 * h + j] = g;
    cell[j] = c;
    squashed[j] = std::tanh(c);
    hidden[j] = o * squashed[j];
  }
}

template <class T>
void cell_backward(const T* z, const T* before, const T* squashed, const T* d_hidden, T* dz, T* d_cell, std::size_t h) {
  for (std::size_t j = 0; j < h; ++j) {
    const T i = z[j], f = z[h + j], o = z[2 * h + j], g = z[3 * h + j];
    const T s = squashed[j], dh = d_hidden[j];
    const T dc = d_cell[j] + dh * o * (1 - s * s);
    dz[j] = dc * g * (i * (1 - i));
    dz[h + j] = before != nullptr ? dc * before[j] * (f * (1 - f)) : T{0};
    dz[2 * h + j] = dh * s * (o * (1 - o));
    dz[3 * h + j] = dc * i * (1 - g * g);
    d_cell[j] = dc * f;
  }
}

template <class T>
void scores(KernelSide<T> queries, KernelSide<T> keys, const T* v, std::size_t width, T* result) {
  for (std::size_t t = 0; t < queries.rows; ++t)
    for (std::size_t i = 0; i < keys.rows; ++i) {
      T sum = 0;
      for (std::size_t j = 0; j < width; ++j)
        sum += v[j] * std::tanh(keys.raw[i * width + j] + queries.raw[t * width + j]);
      result[t * keys.rows + i] = sum;
    }
}

template <class T>
void scores_backward(KernelSide<T> queries, KernelSide<T> keys, const T* v, std::size_t width, const T* d_scores,
                     T* d_queries, T* d_keys, T* d_v) {
  for (std::size_t t = 0; t < queries.rows; ++t)
    for (std::size_t i = 0; i < keys.rows; ++i)
      for (std::size_t j = 0; j < width; ++j) {
        const T du = d_scores[t * keys.rows + i];
        const T y = std::tanh(keys.raw[i * width + j] + queries.raw[t * width + j]);
        const T d = du * v[j] * (1 - y * y);
        d_queries[t * width + j] += d;
        if (d_keys != nullptr) d_keys[i * width + j] += d;
        if (d_v != nullptr) d_v[j] += du * y;
      }
}

double squares(const float* p, const float* g, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (std::isfinite(p[i])) sum += static_cast<double>(g[i]) * g[i];
  return sum;
}

void adam(const AdamStep& step, float* p, const float* g, float* first, float* second, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isfinite(p[i])) {
      const float slope = step.factor * g[i];
      first[i] = step.keep1 * first[i] + step.take1 * slope;
      second[i] = step.keep2 * second[i] + step.take2 * (slope * slope);
      p[i] -= step.scale * first[i] / (std::sqrt(second[i]) + step.epsilon);
    } else {
      first[i] = second[i] = 0;
    }
  }
}

template <class T>
const Kernels<T> table = {
    .packed_size = [](std::size_t k, std::size_t n) { return k * n; },
    .pack = pack<T>,
    .product = product<T>,
    .tanh = [](T* values,
               std::size_t n) { std::transform(values, values + n, values, [](T x) { return std::tanh(x); }); },
    .sigmoid = [](T* values, std::size_t n) { std::transform(values, values + n, values, sigmoid<T>); },
    .exp_less =
        [](const T* values, T offset, T* out, std::size_t n) {
          std::transform(values, values + n, out, [=](T x) { return std::exp(x - offset); });
        },
    .exp_twice = [](const T* values, T* out,
                    std::size_t n) { std::transform(values, values + n, out, [](T x) { return std::exp(2 * x); }); },
    .softmax = softmax<T>,
    .softmax_backward = softmax_backward<T>,
    .largest_rows = largest_rows<T>,
    .largest_rows_backward = largest_rows_backward<T>,
    .sum_rows = sum_rows<T>,
    .add_column_sums = add_column_sums<T>,
    .normalize = normalize<T>,
    .normalize_backward = normalize_backward<T>,
    .combine_rows = combine_rows<T>,
    .cell = cell<T>,
    .cell_backward = cell_backward<T>,
    .scores = scores<T>,
    .scores_backward = scores_backward<T>,
    .sum =
        [](const T* values, std::size_t n) {
          T sum = 0;
          for (std::size_t i = 0; i < n; ++i) sum += values[i];
          return sum;
        },
    .largest = [](const T* values, std::size_t n) { return *std::max_element(values, values + n); },
    .dot =
        [](const T* a, const T* b, std::size_t n) {
          T sum = 0;
          for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
          return sum;
        },
    .squares = squares,
    .adam = adam,
};

}  // namespace

template <class T>
const Kernels<T>& kernels_reference() {
  return table<T>;
}
template const Kernels<float>& kernels_reference();
template const Kernels<double>& kernels_reference();

}  // namespace emplace::nn
