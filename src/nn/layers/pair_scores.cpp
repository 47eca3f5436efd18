// pair_scores.
#include "nn/layers/layers.hpp"

namespace emplace::nn {

namespace {

//   z[r, d] = sum_k x[r, k] f[r, d K + k];  dx[r, k] += sum_d dz[r, d] f[r, d K + k]
template <class T>
class PairScores final : public Op<T> {
 public:
  std::string_view name() const override { return "pair_scores"; }
  Shape shape(std::span<const Shape> in) const override {
    if (in[0].rows != in[1].rows || in[0].columns == 0 || in[1].columns % in[0].columns != 0) wrong_shapes(name(), in);
    return {in[0].rows, in[1].columns / in[0].columns};
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> z) override {
    const std::size_t features = in[0].columns;
    for (std::size_t r = 0; r < z.rows; ++r) {
      const T *const x = in[0].row(r).data(), *f = in[1].row(r).data();
      for (std::size_t d = 0; d < z.columns; ++d, f += features) {
        T sum = 0;
        for (std::size_t k = 0; k < features; ++k) sum += x[k] * f[k];
        z(r, d) = sum;
      }
    }
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> dz,
                std::span<const Matrix<T>> d_in) const override {
    if (d_in[0].data == nullptr) return;
    const std::size_t features = in[0].columns;
    for (std::size_t r = 0; r < dz.rows; ++r) {
      const T* f = in[1].row(r).data();
      T* const to = d_in[0].row(r).data();
      for (std::size_t d = 0; d < dz.columns; ++d, f += features)
        for (std::size_t k = 0; k < features; ++k) to[k] += dz(r, d) * f[k];
    }
  }
};

}  // namespace

template <class T>
Var pair_scores(Tape<T>& tape, Var x, Var features) {
  const Var inputs[] = {x, features};
  return tape.apply(tape.template make<PairScores<T>>(), inputs);
}

template Var pair_scores(Tape<float>&, Var, Var);
template Var pair_scores(Tape<double>&, Var, Var);

}  // namespace emplace::nn
