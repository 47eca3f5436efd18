// linear, matmul.
#include <algorithm>
#include <tuple>

#include "elementwise.hpp"
#include "gemm.hpp"

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
    const auto [x, weight, bias] = std::tie(in[0], in[1], in[2]);
    if (bias.data != nullptr)
      for (std::size_t r = 0; r < y.rows; ++r) std::ranges::copy(bias.all(), y.row(r).begin());
    multiply<T>(x, weight, y, bias.data != nullptr ? Into::add : Into::overwrite);
    activate_all(activation_, y.all());
  }

  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    const auto [x, weight] = std::tie(in[0], in[1]);
    Matrix<const T> dz = dy;
    if (activation_ != Activation::none) {
      const Matrix<T> before = tape.matrix(y.rows, y.columns);
      activate_backward<T>(activation_, y.all(), dy.all(), before.all());
      dz = before;
    }
    if (d_in[1].data != nullptr) multiply<T>(Strided<const T>(x).transposed(), dz, d_in[1], Into::add);
    if (d_in[2].data != nullptr) add_rows<T>(dz, d_in[2].all());
    if (d_in[0].data != nullptr) multiply<T>(dz, Strided<const T>(weight).transposed(), d_in[0], Into::add);
  }

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

template Var linear(Tape<float>&, Var, Var, Var, Activation);
template Var linear(Tape<double>&, Var, Var, Var, Activation);
template Var matmul(Tape<float>&, Var, Var);
template Var matmul(Tape<double>&, Var, Var);

}  // namespace emplace::nn
