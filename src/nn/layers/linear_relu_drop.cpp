#include "nn/kernels/gemm.hpp"
#include "nn/kernels/in_parts.hpp"
#include "nn/layers/dropping.hpp"
#include "nn/layers/elementwise.hpp"

namespace emplace::nn {

namespace {

//   z = x W + b, y = m / (1 - p) max(z, 0) with a mask m of 0 and 1
//   dz = dy / (1 - p) where y > 0;  dx += dz W^T;  dW += x^T dz;  db += column sums of dz
template <class T>
class LinearReluDrop final : public Op<T> {
 public:
  explicit LinearReluDrop(const Dropout& dropout) : dropout_(dropout) {}
  std::string_view name() const override { return "linear_relu_drop"; }
  Shape shape(std::span<const Shape> in) const override {
    if (in[0].columns != in[1].rows || in[2] != Shape{1, in[1].columns}) wrong_shapes(name(), in);
    return {in[0].rows, in[1].columns};
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    in_parts(y.rows, in[1].size() + element_cost * y.columns, 1, [&](std::size_t begin, std::size_t count) {
      multiply<T>(in[0].middle(begin, count), in[1], y.middle(begin, count), Into::overwrite);
      for (std::size_t r = begin; r < begin + count; ++r) add_all<T>(in[2].all(), y.row(r));
    });
    relu_drop<T>(dropout_, y.all());
  }
  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    const Matrix<T> dz = tape.matrix(y.rows, y.columns);
    relu_drop_backward<T>(static_cast<T>(drop_scale(dropout_)), y.all(), dy.all(), dz.all());
    const Into into = tape.is_fresh(0) ? Into::overwrite : Into::add;
    if (d_in[0].data != nullptr)
      in_parts(dz.rows, in[1].size(), 1, [&](std::size_t begin, std::size_t count) {
        multiply<T>(dz.middle(begin, count), Strided<const T>(in[1]).transposed(), d_in[0].middle(begin, count), into);
      });
    add_weight_gradients<T>(in[0], dz, d_in[1], d_in[2]);
  }
  [[nodiscard]] bool overwrites(std::size_t input) const override { return input == 0; }

 private:
  Dropout dropout_;
};

}  // namespace

template <class T>
Var linear_relu_drop(Tape<T>& tape, Var x, Var weight, Var bias, const Dropout& dropout) {
  const Var inputs[] = {x, weight, bias};
  return tape.apply(tape.template make<LinearReluDrop<T>>(dropout), inputs);
}

template Var linear_relu_drop(Tape<float>&, Var, Var, Var, const Dropout&);
template Var linear_relu_drop(Tape<double>&, Var, Var, Var, const Dropout&);

}  // namespace emplace::nn
