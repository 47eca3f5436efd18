// symmetric_product, product_of_rows, scale_rows.
#include "nn/layers/sparse.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "nn/kernels/kernels.hpp"
#include "nn/layers/elementwise.hpp"

namespace emplace::nn {

namespace {

//   y = A x;  dx += A dy, as A is its own transpose
template <class T>
class SymmetricProduct final : public Op<T> {
 public:
  SymmetricProduct(const Lists& lists, std::span<const double> values) : lists_(lists), values_(values) {}
  std::string_view name() const override { return "symmetric_product"; }
  Shape shape(std::span<const Shape> in) const override {
    EMPLACE_CHECK(values_.size() == lists_.items.size(), "{} values of {}", values_.size(), lists_.items.size());
    if (lists_.rows() != in[0].rows) wrong_shapes(name(), in);
    for (const std::uint32_t item : lists_.items) EMPLACE_CHECK(item < in[0].rows, "column {}", item);
    return in[0];
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override { multiply(in[0], y, false); }
  void backward(Tape<T>& tape, std::span<const Matrix<const T>>, Matrix<const T>, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    multiply(dy, d_in[0], !tape.is_fresh(0));
  }
  [[nodiscard]] bool overwrites(std::size_t) const override { return true; }

 private:
  void multiply(Matrix<const T> x, Matrix<T> y, bool add) const {
    kernels<T>().combine_rows(x.data, lists_.begin.data(), lists_.items.data(), values_.data(), y.rows, y.columns,
                              y.data, add);
  }

  const Lists& lists_;
  std::span<const double> values_;
};

//   y_e = x_a x_b;  dx_a += dy_e x_b;  dx_b += dy_e x_a
template <class T>
class ProductOfRows final : public Op<T> {
 public:
  ProductOfRows(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) : a_(a), b_(b) {}
  std::string_view name() const override { return "product_of_rows"; }
  Shape shape(std::span<const Shape> in) const override {
    EMPLACE_CHECK(a_.size() == b_.size(), "{} rows times {}", a_.size(), b_.size());
    for (const auto& list : {a_, b_})
      for (const std::uint32_t row : list) EMPLACE_CHECK(row < in[0].rows, "row {} of {}", row, in[0].rows);
    return {a_.size(), in[0].columns};
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    for (std::size_t e = 0; e < a_.size(); ++e) {
      const T *const a = in[0].row(a_[e]).data(), *const b = in[0].row(b_[e]).data();
      T* const out = y.row(e).data();
      for (std::size_t j = 0; j < y.columns; ++j) out[j] = a[j] * b[j];
    }
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    for (std::size_t e = 0; e < a_.size(); ++e) {
      const T *const a = in[0].row(a_[e]).data(), *const b = in[0].row(b_[e]).data(), *const d = dy.row(e).data();
      T* const da = d_in[0].row(a_[e]).data();
      for (std::size_t j = 0; j < dy.columns; ++j) da[j] += d[j] * b[j];
      T* const db = d_in[0].row(b_[e]).data();
      for (std::size_t j = 0; j < dy.columns; ++j) db[j] += d[j] * a[j];
    }
  }

 private:
  std::span<const std::uint32_t> a_, b_;
};

//   y_r = f_r x_r;  dx_r += f_r dy_r;  df_r += dy_r . x_r
template <class T>
class ScaleRows final : public Op<T> {
 public:
  std::string_view name() const override { return "scale_rows"; }
  Shape shape(std::span<const Shape> in) const override {
    if (in[1] != Shape{in[0].rows, 1}) wrong_shapes(name(), in);
    return in[0];
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    for (std::size_t r = 0; r < y.rows; ++r)
      std::ranges::transform(in[0].row(r), y.row(r).begin(), [f = in[1].data[r]](T x) { return f * x; });
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    for (std::size_t r = 0; r < dy.rows; ++r) {
      if (d_in[0].data != nullptr) add_scaled<T>(in[1].data[r], dy.row(r), d_in[0].row(r));
      if (d_in[1].data != nullptr && dy.columns > 0)
        d_in[1].data[r] += kernels<T>().dot(dy.row(r).data(), in[0].row(r).data(), dy.columns);
    }
  }
};

}  // namespace

template <class T>
Var symmetric_product(Tape<T>& tape, const Lists& lists, std::span<const double> values, Var x) {
  return tape.apply(tape.template make<SymmetricProduct<T>>(lists, values), {&x, 1});
}

template <class T>
Var product_of_rows(Tape<T>& tape, Var x, std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  return tape.apply(tape.template make<ProductOfRows<T>>(a, b), {&x, 1});
}

template <class T>
Var scale_rows(Tape<T>& tape, Var x, Var factor) {
  const Var inputs[] = {x, factor};
  return tape.apply(tape.template make<ScaleRows<T>>(), inputs);
}

#define EMPLACE_INSTANTIATE(T)                                                                                 \
  template Var symmetric_product(Tape<T>&, const Lists&, std::span<const double>, Var);                        \
  template Var product_of_rows(Tape<T>&, Var, std::span<const std::uint32_t>, std::span<const std::uint32_t>); \
  template Var scale_rows(Tape<T>&, Var, Var);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
