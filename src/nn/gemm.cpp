#include "gemm.hpp"

#include <Eigen/Core>
#include <type_traits>

#include "emplace/base/error.hpp"

namespace emplace::nn {

namespace {

template <class T, int Order>
using Dense = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Order>;
template <class T, int Order>
using View =
    Eigen::Map<std::conditional_t<std::is_const_v<T>, const Dense<T, Order>, Dense<T, Order>>, 0, Eigen::OuterStride<>>;

template <class A, class B, class T>
void product(const A& a, const B& b, Strided<T> c, Into into) {
  View<T, Eigen::RowMajor> result(c.data, static_cast<Eigen::Index>(c.rows), static_cast<Eigen::Index>(c.columns),
                                  Eigen::OuterStride<>(static_cast<Eigen::Index>(c.row_stride)));
  if (into == Into::add)
    result.noalias() += a * b;
  else
    result.noalias() = a * b;
}

// Calls f with the map that fits the order of the matrix.
template <class T, class F>
void with_map(Strided<const T> m, F f) {
  const auto rows = static_cast<Eigen::Index>(m.rows);
  const auto columns = static_cast<Eigen::Index>(m.columns);
  if (m.column_stride == 1) {
    f(View<const T, Eigen::RowMajor>(m.data, rows, columns,
                                     Eigen::OuterStride<>(static_cast<Eigen::Index>(m.row_stride))));
  } else {
    EMPLACE_CHECK(m.row_stride == 1);
    f(View<const T, Eigen::ColMajor>(m.data, rows, columns,
                                     Eigen::OuterStride<>(static_cast<Eigen::Index>(m.column_stride))));
  }
}

}  // namespace

template <class T>
void multiply(Strided<const T> a, Strided<const T> b, Strided<T> c, Into into) {
  EMPLACE_CHECK(a.rows == c.rows && a.columns == b.rows && b.columns == c.columns && c.column_stride == 1,
                "{} x {} times {} x {} into {} x {}", a.rows, a.columns, b.rows, b.columns, c.rows, c.columns);
  with_map<T>(a, [&](const auto& left) { with_map<T>(b, [&](const auto& right) { product(left, right, c, into); }); });
}

template void multiply<float>(Strided<const float>, Strided<const float>, Strided<float>, Into);
template void multiply<double>(Strided<const double>, Strided<const double>, Strided<double>, Into);

}  // namespace emplace::nn
