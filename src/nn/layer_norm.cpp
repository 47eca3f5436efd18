#include <cmath>

#include "emplace/nn/layers.hpp"
#include "kernels.hpp"

namespace emplace::nn {

namespace {

//   u = (x - mean) s with s = 1 / sqrt(variance + epsilon);  y = gain u + bias
//   du = dy gain;  dx += s (du - mean(du) - u mean(du u));  dgain += sum_rows dy u;  dbias += sum_rows dy
template <class T>
class LayerNorm final : public Op<T> {
 public:
  explicit LayerNorm(T epsilon) : epsilon_(epsilon) {}
  std::string_view name() const override { return "layer_norm"; }
  Shape shape(std::span<const Shape> in) const override {
    const Shape row{1, in[0].columns};
    if (in[1] != row || in[2] != row || row.columns == 0) wrong_shapes(name(), in);
    return in[0];
  }

  void forward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    normal_ = tape.matrix(y.rows, y.columns);
    inverse_ = tape.template array<T>(y.rows);
    const auto count = static_cast<T>(y.columns);
    const T *const gain = in[1].data, *const bias = in[2].data;
    for (std::size_t r = 0; r < y.rows; ++r) {
      const T* const x = in[0].row(r).data();
      T *const u = normal_.row(r).data(), *const out = y.row(r).data();
      const T mean = kernels<T>().sum(x, y.columns) / count;
      for (std::size_t j = 0; j < y.columns; ++j) u[j] = x[j] - mean;
      const T inverse = 1 / std::sqrt(kernels<T>().dot(u, u, y.columns) / count + epsilon_);
      inverse_[r] = inverse;
      for (std::size_t j = 0; j < y.columns; ++j) u[j] *= inverse;
      for (std::size_t j = 0; j < y.columns; ++j) out[j] = gain[j] * u[j] + bias[j];
    }
  }

  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    const std::size_t columns = y.columns;
    const auto count = static_cast<T>(columns);
    T* const du = tape.template array<T>(columns).data();
    for (std::size_t r = 0; r < y.rows; ++r) {
      const T *const u = normal_.row(r).data(), *const d = dy.row(r).data();
      if (T* const d_gain = d_in[1].data; d_gain != nullptr)
        for (std::size_t j = 0; j < columns; ++j) d_gain[j] += d[j] * u[j];
      if (T* const d_bias = d_in[2].data; d_bias != nullptr)
        for (std::size_t j = 0; j < columns; ++j) d_bias[j] += d[j];
      if (d_in[0].data == nullptr) continue;
      T* const dx = d_in[0].row(r).data();
      for (std::size_t j = 0; j < columns; ++j) du[j] = d[j] * in[1].data[j];
      const T mean = kernels<T>().sum(du, columns) / count, along = kernels<T>().dot(du, u, columns) / count;
      for (std::size_t j = 0; j < columns; ++j) dx[j] += inverse_[r] * (du[j] - mean - u[j] * along);
    }
  }

 private:
  T epsilon_;
  Matrix<T> normal_;      // u
  std::span<T> inverse_;  // s
};

}  // namespace

template <class T>
Var layer_norm(Tape<T>& tape, Var x, Var gain, Var bias, T epsilon) {
  const Var inputs[] = {x, gain, bias};
  return tape.apply(tape.template make<LayerNorm<T>>(epsilon), inputs);
}

template Var layer_norm(Tape<float>&, Var, Var, Var, float);
template Var layer_norm(Tape<double>&, Var, Var, Var, double);

}  // namespace emplace::nn
