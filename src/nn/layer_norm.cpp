#include <cmath>

#include "emplace/nn/layers.hpp"

namespace emplace::nn {

namespace {

//   u = (x - mean) s with s = 1 / sqrt(variance + epsilon);  y = gain u + bias
//   du = dy gain;  dx += s (du - mean(du) - u mean(du u));  dgain += sum_rows dy u;  dbias += sum_rows dy
// Sums over a row are in double, in order.
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
    mean_ = tape.template array<T>(y.rows);
    inverse_ = tape.template array<T>(y.rows);
    const auto columns = static_cast<double>(y.columns);
    for (std::size_t r = 0; r < y.rows; ++r) {
      double sum = 0, squares = 0;
      for (const T x : in[0].row(r)) sum += x;
      const double mean = sum / columns;
      for (const T x : in[0].row(r)) squares += (x - mean) * (x - mean);
      mean_[r] = static_cast<T>(mean);
      inverse_[r] = static_cast<T>(1 / std::sqrt(squares / columns + epsilon_));
      for (std::size_t j = 0; j < y.columns; ++j) y(r, j) = in[1].data[j] * normal(in[0], r, j) + in[2].data[j];
    }
  }

  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    const auto columns = static_cast<double>(y.columns);
    for (std::size_t r = 0; r < y.rows; ++r) {
      double sum = 0, along = 0;
      for (std::size_t j = 0; j < y.columns; ++j) {
        const T u = normal(in[0], r, j), du = dy(r, j) * in[1].data[j];
        sum += du;
        along += du * u;
        if (d_in[1].data != nullptr) d_in[1].data[j] += dy(r, j) * u;
        if (d_in[2].data != nullptr) d_in[2].data[j] += dy(r, j);
      }
      if (d_in[0].data == nullptr) continue;
      const T mean = static_cast<T>(sum / columns), mean_along = static_cast<T>(along / columns);
      for (std::size_t j = 0; j < y.columns; ++j)
        d_in[0](r, j) += inverse_[r] * (dy(r, j) * in[1].data[j] - mean - normal(in[0], r, j) * mean_along);
    }
  }

 private:
  T normal(const Matrix<const T>& x, std::size_t r, std::size_t j) const { return (x(r, j) - mean_[r]) * inverse_[r]; }

  T epsilon_;
  std::span<T> mean_, inverse_;  // n each
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
