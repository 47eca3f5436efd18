// layer_norm, add_norm, norm_relu_drop.
#include <algorithm>

#include "dropping.hpp"
#include "emplace/nn/layers.hpp"
#include "kernels.hpp"

namespace emplace::nn {

namespace {

//   u = (x - mean) s with s = 1 / sqrt(variance + epsilon);  y = gain u + bias
//   du = dy gain;  dx += s (du - mean(du) - u mean(du u));  dgain += sum_rows dy u;  dbias += sum_rows dy
// of x, or of x + z; with a rectifier and dropout behind it or without.
template <class T>
class LayerNorm final : public Op<T> {
 public:
  explicit LayerNorm(T epsilon) : epsilon_(epsilon) {}
  LayerNorm(T epsilon, const Dropout& dropout) : epsilon_(epsilon), dropout_(dropout), rectifies_(true) {}
  std::string_view name() const override { return "layer_norm"; }
  Shape shape(std::span<const Shape> in) const override {
    const Shape row{1, in[0].columns};
    if (in[2] != row || in[3] != row || row.columns == 0 || (in[1].size() > 0 && in[1] != in[0]))
      wrong_shapes(name(), in);
    return in[0];
  }

  void forward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    normal_ = tape.matrix(y.rows, y.columns);
    inverse_ = tape.template array<T>(y.rows);
    kernels<T>().normalize(in[0].data, in[1].data, in[2].data, in[3].data, epsilon_, y.rows, y.columns, normal_.data,
                           inverse_.data(), y.data);
    if (rectifies_) relu_drop<T>(dropout_, y.all());
  }

  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    T* const scratch = tape.template array<T>(y.columns).data();
    kernels<T>().normalize_backward(normal_.data, inverse_.data(), in[2].data, rectifies_ ? y.data : nullptr,
                                    static_cast<T>(drop_scale(dropout_)), dy.data, y.rows, y.columns, scratch,
                                    d_in[0].data, tape.is_fresh(0), d_in[1].data, tape.is_fresh(1), d_in[2].data,
                                    d_in[3].data);
  }
  [[nodiscard]] bool overwrites(std::size_t input) const override { return input < 2; }

 private:
  T epsilon_;
  Dropout dropout_;
  bool rectifies_ = false;
  Matrix<T> normal_;      // u
  std::span<T> inverse_;  // s
};

}  // namespace

template <class T>
Var layer_norm(Tape<T>& tape, Var x, Var gain, Var bias, T epsilon) {
  return add_norm(tape, x, {}, gain, bias, epsilon);
}

template <class T>
Var add_norm(Tape<T>& tape, Var x, Var z, Var gain, Var bias, T epsilon) {
  const Var inputs[] = {x, z, gain, bias};
  return tape.apply(tape.template make<LayerNorm<T>>(epsilon), inputs);
}

template <class T>
Var norm_relu_drop(Tape<T>& tape, Var x, Var gain, Var bias, T epsilon, const Dropout& dropout) {
  const Var inputs[] = {x, {}, gain, bias};
  return tape.apply(tape.template make<LayerNorm<T>>(epsilon, dropout), inputs);
}

#define EMPLACE_INSTANTIATE(T)                            \
  template Var layer_norm(Tape<T>&, Var, Var, Var, T);    \
  template Var add_norm(Tape<T>&, Var, Var, Var, Var, T); \
  template Var norm_relu_drop(Tape<T>&, Var, Var, Var, T, const Dropout&);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
