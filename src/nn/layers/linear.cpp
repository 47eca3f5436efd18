// linear, matmul, matmul_transposed, product_of_constant, residual_linear, project.
#include <algorithm>
#include <functional>

#include "nn/kernels/gemm.hpp"
#include "nn/kernels/in_parts.hpp"
#include "nn/kernels/kernels.hpp"
#include "nn/layers/elementwise.hpp"

namespace emplace::nn {

namespace {

//   z = x W + b, y = activation(z)
//   dz = dy activation'(z);  dW += x^T dz;  db += column sums of dz;  dx += dz W^T
template <class T>
class Linear final : public Op<T> {
 public:
  explicit Linear(Activation activation) : activation_(activation) {}

  std::string_view name() const override { return "linear"; }

  Shape shape(std::span<const Shape> in) const override {
    const bool biased = in[2].size() > 0;
    if (in[0].columns != in[1].rows || (biased && in[2] != Shape{1, in[1].columns})) wrong_shapes(name(), in);
    return {in[0].rows, in[1].columns};
  }

  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    const Matrix<const T> x = in[0], weight = in[1], bias = in[2];
    in_parts(y.rows, weight.size() + element_cost * y.columns, 1, [&](std::size_t begin, std::size_t count) {
      const Matrix<T> rows = y.middle(begin, count);
      if (bias.data != nullptr)
        for (std::size_t r = 0; r < count; ++r) std::ranges::copy(bias.all(), rows.row(r).begin());
      multiply<T>(x.middle(begin, count), weight, rows, bias.data != nullptr ? Into::add : Into::overwrite);
      activate_all(activation_, rows.all());
    });
  }

  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    const Matrix<const T> x = in[0], weight = in[1];
    const Into into = tape.is_fresh(0) ? Into::overwrite : Into::add;
    const bool changes = activation_ != Activation::none;
    const Matrix<T> before = changes ? tape.matrix(y.rows, y.columns) : Matrix<T>{};
    const Matrix<const T> dz = changes ? Matrix<const T>(before) : dy;
    if (changes || d_in[0].data != nullptr)
      in_parts(y.rows, weight.size() + element_cost * y.columns, 1, [&](std::size_t begin, std::size_t count) {
        if (changes)
          activate_backward<T>(activation_, y.middle(begin, count).all(), dy.middle(begin, count).all(),
                               before.middle(begin, count).all());
        if (d_in[0].data != nullptr)
          multiply<T>(dz.middle(begin, count), Strided<const T>(weight).transposed(), d_in[0].middle(begin, count),
                      into);
      });
    add_weight_gradients<T>(x, dz, d_in[1], d_in[2]);
  }
  [[nodiscard]] bool overwrites(std::size_t input) const override { return input == 0; }

 private:
  Activation activation_;
};

//   z = x y^T;  dx += dz y;  dy += dz^T x
template <class T>
class MatmulTransposed final : public Op<T> {
 public:
  std::string_view name() const override { return "matmul_transposed"; }
  Shape shape(std::span<const Shape> in) const override {
    if (in[0].columns != in[1].columns) wrong_shapes(name(), in);
    return {in[0].rows, in[1].rows};
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> z) override {
    multiply<T>(in[0], Strided<const T>(in[1]).transposed(), z, Into::overwrite);
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> dz,
                std::span<const Matrix<T>> d_in) const override {
    if (d_in[0].data != nullptr) multiply<T>(dz, in[1], d_in[0], Into::add);
    if (d_in[1].data != nullptr) multiply<T>(Strided<const T>(dz).transposed(), in[0], d_in[1], Into::add);
  }
};

//   y = x W;  dW += x^T dy
template <class T>
class ProductOfConstant final : public Op<T> {
 public:
  std::string_view name() const override { return "product_of_constant"; }
  Shape shape(std::span<const Shape> in) const override {
    if (in[1].columns != in[2].rows || in[0] != Shape{in[1].rows, in[2].columns}) wrong_shapes(name(), in);
    return in[0];
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    std::ranges::copy(in[0].all(), y.data);
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    add_weight_gradients<T>(in[1], dy, d_in[2], {});
  }
};

//   y = x + x W + b;  dx += dy + dy W^T;  dW += x^T dy;  db += column sums of dy
template <class T>
class ResidualLinear final : public Op<T> {
 public:
  std::string_view name() const override { return "residual_linear"; }
  Shape shape(std::span<const Shape> in) const override {
    const std::size_t width = in[0].columns;
    if (in[1] != Shape{width, width} || in[2] != Shape{1, width}) wrong_shapes(name(), in);
    return in[0];
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    const Matrix<const T> x = in[0], weight = in[1], bias = in[2];
    in_parts(y.rows, weight.size() + element_cost * y.columns, 1, [&](std::size_t begin, std::size_t count) {
      for (std::size_t r = begin; r < begin + count; ++r)
        std::ranges::transform(x.row(r), bias.all(), y.row(r).begin(), std::plus<>());
      multiply<T>(x.middle(begin, count), weight, y.middle(begin, count), Into::add);
    });
  }
  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    const Matrix<const T> x = in[0], weight = in[1];
    const bool fresh = tape.is_fresh(0);
    if (d_in[0].data != nullptr)
      in_parts(dy.rows, weight.size() + element_cost * dy.columns, 1, [&](std::size_t begin, std::size_t count) {
        const Matrix<const T> d = dy.middle(begin, count);
        const Matrix<T> dx = d_in[0].middle(begin, count);
        if (fresh)
          std::ranges::copy(d.all(), dx.data);
        else
          add_all<T>(d.all(), dx.all());
        multiply<T>(d, Strided<const T>(weight).transposed(), dx, Into::add);
      });
    add_weight_gradients<T>(x, dy, d_in[1], d_in[2]);
  }
  [[nodiscard]] bool overwrites(std::size_t input) const override { return input == 0; }
};

//   z_r = x_r . w + b, y = activation(z)
//   dz = dy activation'(z);  dx_r += dz_r w;  dw += sum_r dz_r x_r;  db += sum_r dz_r
template <class T>
class Project final : public Op<T> {
 public:
  explicit Project(Activation activation) : activation_(activation) {}
  std::string_view name() const override { return "project"; }
  Shape shape(std::span<const Shape> in) const override {
    if (in[0].columns == 0 || in[1] != Shape{in[0].columns, 1} || in[2] != Shape{1, 1}) wrong_shapes(name(), in);
    return {in[0].rows, 1};
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    for (std::size_t r = 0; r < y.rows; ++r)
      y.data[r] = kernels<T>().dot(in[0].row(r).data(), in[1].data, in[0].columns) + *in[2].data;
    activate_all(activation_, y.all());
  }
  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    const std::span<T> dz = tape.template array<T>(y.rows);
    activate_backward<T>(activation_, y.all(), dy.all(), dz);
    for (std::size_t r = 0; r < y.rows; ++r) {
      if (d_in[0].data != nullptr) {
        const std::span<T> row = d_in[0].row(r);
        if (tape.is_fresh(0)) std::ranges::fill(row, T{0});
        add_scaled<T>(dz[r], in[1].all(), row);
      }
      if (d_in[1].data != nullptr) add_scaled<T>(dz[r], in[0].row(r), d_in[1].all());
      if (d_in[2].data != nullptr) *d_in[2].data += dz[r];
    }
  }
  [[nodiscard]] bool overwrites(std::size_t input) const override { return input == 0; }

 private:
  Activation activation_;
};

}  // namespace

template <class T>
Var linear(Tape<T>& tape, Var x, Var weight, Var bias, Activation activation) {
  const Var inputs[] = {x, weight, bias};
  return tape.apply(tape.template make<Linear<T>>(activation), inputs);
}

template <class T>
Var matmul(Tape<T>& tape, Var x, Var weight) {
  return linear(tape, x, weight, {}, Activation::none);
}

template <class T>
Var matmul_transposed(Tape<T>& tape, Var x, Var y) {
  const Var inputs[] = {x, y};
  return tape.apply(tape.template make<MatmulTransposed<T>>(), inputs);
}

template <class T>
Var product_of_constant(Tape<T>& tape, Var product, Var x, Var weight) {
  const Var inputs[] = {product, x, weight};
  return tape.apply(tape.template make<ProductOfConstant<T>>(), inputs);
}

template <class T>
Var residual_linear(Tape<T>& tape, Var x, Var weight, Var bias) {
  const Var inputs[] = {x, weight, bias};
  return tape.apply(tape.template make<ResidualLinear<T>>(), inputs);
}

template <class T>
Var project(Tape<T>& tape, Var x, Var weight, Var bias, Activation activation) {
  const Var inputs[] = {x, weight, bias};
  return tape.apply(tape.template make<Project<T>>(activation), inputs);
}

template Var linear(Tape<float>&, Var, Var, Var, Activation);
template Var linear(Tape<double>&, Var, Var, Var, Activation);
template Var project(Tape<float>&, Var, Var, Var, Activation);
template Var project(Tape<double>&, Var, Var, Var, Activation);
template Var matmul(Tape<float>&, Var, Var);
template Var matmul(Tape<double>&, Var, Var);
template Var matmul_transposed(Tape<float>&, Var, Var);
template Var matmul_transposed(Tape<double>&, Var, Var);
template Var product_of_constant(Tape<float>&, Var, Var, Var);
template Var product_of_constant(Tape<double>&, Var, Var, Var);
template Var residual_linear(Tape<float>&, Var, Var, Var);
template Var residual_linear(Tape<double>&, Var, Var, Var);

}  // namespace emplace::nn
