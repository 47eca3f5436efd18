// times.
#include <algorithm>

#include "nn/kernels/in_parts.hpp"
#include "nn/layers/layers.hpp"

namespace emplace::nn {

namespace {

//   z = x y;  dx += dz y;  dy += dz x (its column sums if y is a row)
template <class T>
class Times final : public Op<T> {
 public:
  std::string_view name() const override { return "times"; }
  Shape shape(std::span<const Shape> in) const override {
    if (in[1] != in[0] && in[1] != Shape{1, in[0].columns}) wrong_shapes(name(), in);
    return in[0];
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> z) override {
    in_parts(z.rows, element_cost * z.columns, 1, [&](std::size_t begin, std::size_t count) {
      for (std::size_t r = begin; r < begin + count; ++r) {
        const T *const x = in[0].row(r).data(), *const y = factors(in[1], r);
        T* const out = z.row(r).data();
        for (std::size_t j = 0; j < z.columns; ++j) out[j] = x[j] * y[j];
      }
    });
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> dz,
                std::span<const Matrix<T>> d_in) const override {
    const auto rows = [&](std::size_t begin, std::size_t count) {
      for (std::size_t r = begin; r < begin + count; ++r) {
        const T *const d = dz.row(r).data(), *const x = in[0].row(r).data(), *const y = factors(in[1], r);
        if (d_in[0].data != nullptr) add_product(d, y, d_in[0].row(r));
        if (d_in[1].data != nullptr) add_product(d, x, d_in[1].row(in[1].rows == 1 ? 0 : r));
      }
    };
    if (in[1].rows == dz.rows)
      in_parts(dz.rows, 2 * element_cost * dz.columns, 1, rows);
    else
      rows(0, dz.rows);
  }

 private:
  static const T* factors(Matrix<const T> y, std::size_t row) { return y.row(y.rows == 1 ? 0 : row).data(); }
  static void add_product(const T* a, const T* b, std::span<T> sum) {
    T* const to = sum.data();
    for (std::size_t j = 0; j < sum.size(); ++j) to[j] += a[j] * b[j];
  }
};

}  // namespace

template <class T>
Var times(Tape<T>& tape, Var x, Var y) {
  const Var inputs[] = {x, y};
  return tape.apply(tape.template make<Times<T>>(), inputs);
}

template Var times(Tape<float>&, Var, Var);
template Var times(Tape<double>&, Var, Var);

}  // namespace emplace::nn
