// layer_norm, add_norm, norm_relu_drop.
#include <algorithm>

#include "nn/kernels/in_parts.hpp"
#include "nn/kernels/kernels.hpp"
#include "nn/layers/dropping.hpp"
#include "nn/layers/elementwise.hpp"
#include "nn/layers/layers.hpp"

namespace emplace::nn {

namespace {

//   u = (x - mean) s with s = 1 / sqrt(variance + epsilon);  y = gain u + bias
//   du = dy gain;  dx += s (du - mean(du) - u mean(du u));  dgain += sum_rows dy u;  dbias += sum_rows dy
// of x, or of x + z; with or without a rectifier and dropout after it.
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
    in_parts(y.rows, 4 * element_cost * y.columns, 1, [&](std::size_t begin, std::size_t count) {
      const std::size_t at = begin * y.columns;
      kernels<T>().normalize(in[0].data + at, in[1].data == nullptr ? nullptr : in[1].data + at, in[2].data, in[3].data,
                             epsilon_, count, y.columns, normal_.data + at, inverse_.data() + begin, y.data + at);
    });
    if (rectifies_) relu_drop<T>(dropout_, y.all());
  }

  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    // The gradients of gain and bias are summed in blocks of rows, and then over blocks: so they are equal for any
    // number of threads.
    const std::size_t columns = y.columns, blocks = (y.rows + block_rows - 1) / block_rows;
    const Matrix<T> scratch = tape.matrix(blocks, columns), gains = tape.matrix(blocks, columns),
                    biases = tape.matrix(blocks, columns);
    std::ranges::fill(gains.all(), T{0});
    std::ranges::fill(biases.all(), T{0});
    const bool set[] = {tape.is_fresh(0), tape.is_fresh(1)};
    in_parts(blocks, 4 * element_cost * block_rows * columns, 1, [&](std::size_t first, std::size_t count) {
      for (std::size_t block = first; block < first + count; ++block) {
        const std::size_t begin = block * block_rows, at = begin * columns;
        const auto part = [at](T* of) { return of == nullptr ? nullptr : of + at; };
        kernels<T>().normalize_backward(normal_.data + at, inverse_.data() + begin, in[2].data,
                                        rectifies_ ? y.data + at : nullptr, static_cast<T>(drop_scale(dropout_)),
                                        dy.data + at, std::min(block_rows, y.rows - begin), columns,
                                        scratch.row(block).data(), part(d_in[0].data), set[0], part(d_in[1].data),
                                        set[1], gains.row(block).data(), biases.row(block).data());
      }
    });
    if (d_in[2].data != nullptr) add_rows<T>(gains, d_in[2].all());
    if (d_in[3].data != nullptr) add_rows<T>(biases, d_in[3].all());
  }
  [[nodiscard]] bool overwrites(std::size_t input) const override { return input < 2; }

 private:
  static constexpr std::size_t block_rows = 256;

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
