#include <algorithm>

#include "emplace/base/error.hpp"
#include "nn/kernels/kernels.hpp"
#include "nn/layers/elementwise.hpp"
#include "nn/layers/sparse.hpp"

namespace emplace::nn {

namespace {

//   r_ij = s_i0 + s_j1;  e_ij = r_ij, or 0.2 r_ij below 0;  a_i = softmax(e_i);  y_i = sum_j a_ij x_j
//   dx_j += a_ij dy_i;  de_ij = a_ij (dy_i . x_j - dy_i . y_i);  ds_i0 and ds_j1 += de_ij, or 0.2 de_ij where r_ij < 0
template <class T>
class NeighbourAttention final : public Op<T> {
 public:
  explicit NeighbourAttention(const Lists& lists) : lists_(lists) {}
  std::string_view name() const override { return "neighbour_attention"; }
  Shape shape(std::span<const Shape> in) const override {
    if (lists_.rows() != in[0].rows || in[1] != Shape{in[0].rows, 2}) wrong_shapes(name(), in);
    for (const std::uint32_t item : lists_.items) EMPLACE_CHECK(item < in[0].rows, "row {} of {}", item, in[0].rows);
    return in[0];
  }
  void forward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    weights_ = tape.template array<double>(lists_.items.size());
    std::size_t longest = 0;
    for (std::size_t i = 0; i < y.rows; ++i) longest = std::max(longest, lists_[i].size());
    const std::span<T> scores = tape.template array<T>(longest), p = tape.template array<T>(longest);
    for (std::size_t i = 0; i < y.rows; ++i) {
      const std::span<const std::uint32_t> list = lists_[i];
      if (list.empty()) continue;
      for (std::size_t k = 0; k < list.size(); ++k) {
        const T r = in[1](i, 0) + in[1](list[k], 1);
        scores[k] = r * slope(r);
      }
      const double sum = kernels<T>().softmax(scores.data(), nullptr, p.data(), list.size()).sum;
      for (std::size_t k = 0; k < list.size(); ++k) weights_[lists_.begin[i] + k] = static_cast<double>(p[k]) / sum;
    }
    kernels<T>().combine_rows(in[0].data, lists_.begin.data(), lists_.items.data(), weights_.data(), y.rows, y.columns,
                              y.data, false);
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    for (std::size_t i = 0; i < y.rows; ++i) {
      const T mean = product(dy.row(i), y.row(i));
      for (std::uint32_t k = lists_.begin[i]; k < lists_.begin[i + 1]; ++k) {
        const std::uint32_t j = lists_.items[k];
        const T weight = static_cast<T>(weights_[k]);
        if (d_in[0].data != nullptr) add_scaled<T>(weight, dy.row(i), d_in[0].row(j));
        if (d_in[1].data == nullptr) continue;
        const T de = weight * (product(dy.row(i), in[0].row(j)) - mean);
        const T dr = de * slope(in[1](i, 0) + in[1](j, 1));
        d_in[1](i, 0) += dr;
        d_in[1](j, 1) += dr;
      }
    }
  }

 private:
  static T slope(T r) { return r < 0 ? static_cast<T>(0.2) : T{1}; }
  static T product(std::span<const T> a, std::span<const T> b) {
    return kernels<T>().dot(a.data(), b.data(), a.size());
  }

  const Lists& lists_;
  std::span<double> weights_;  // a_ij, in the order of the lists' items
};

}  // namespace

template <class T>
Var neighbour_attention(Tape<T>& tape, Var x, Var scores, const Lists& lists) {
  const Var inputs[] = {x, scores};
  return tape.apply(tape.template make<NeighbourAttention<T>>(lists), inputs);
}

template Var neighbour_attention(Tape<float>&, Var, Var, const Lists&);
template Var neighbour_attention(Tape<double>&, Var, Var, const Lists&);

}  // namespace emplace::nn
