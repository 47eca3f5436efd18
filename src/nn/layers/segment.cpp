// segment_sum, segment_mean, segment_max: rows reduced over compressed lists.
#include <algorithm>

#include "emplace/base/error.hpp"
#include "nn/kernels/in_parts.hpp"
#include "nn/kernels/kernels.hpp"
#include "nn/layers/elementwise.hpp"

namespace emplace::nn {

namespace {

void check_items(std::span<const std::uint32_t> items, std::size_t rows) {
  for (const std::uint32_t item : items) EMPLACE_CHECK(item < rows, "a segment takes row {} of {}", item, rows);
}

//   y_r = s_r sum_{i in lists[r]} x_i with s_r = 1, or 1 / |lists[r]| for the mean;  dx_i += s_r dy_r for each i in it
template <class T>
class SegmentSum final : public Op<T> {
 public:
  SegmentSum(const Lists& lists, bool mean) : lists_(lists), mean_(mean) {}
  std::string_view name() const override { return mean_ ? "segment_mean" : "segment_sum"; }
  Shape shape(std::span<const Shape> in) const override {
    check_items(lists_.items, in[0].rows);
    return {lists_.rows(), in[0].columns};
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    kernels<T>().sum_rows(in[0].data, lists_.begin.data(), lists_.items.data(), y.rows, y.columns, y.data);
    for (std::size_t r = 0; mean_ && r < y.rows; ++r)
      if (!lists_[r].empty())
        for (T& value : y.row(r)) value *= factor(r);
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>>, Matrix<const T>, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    for (std::size_t r = 0; r < dy.rows; ++r)
      for (const std::uint32_t i : lists_[r]) add_scaled<T>(factor(r), dy.row(r), d_in[0].row(i));
  }

 private:
  T factor(std::size_t r) const { return mean_ ? T{1} / static_cast<T>(lists_[r].size()) : T{1}; }

  const Lists& lists_;
  bool mean_;
};

//   y_{r,j} = max_{i in lists[r]} x_{i,j};  dx_{i,j} += dy_{r,j} for the first such i
template <class T>
class SegmentMax final : public Op<T> {
 public:
  explicit SegmentMax(const Lists& lists) : lists_(lists) {}
  std::string_view name() const override { return "segment_max"; }
  Shape shape(std::span<const Shape> in) const override {
    check_items(lists_.items, in[0].rows);
    return {lists_.rows(), in[0].columns};
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    in_parts(y.rows, 2 * element_cost * y.columns, 1, [&](std::size_t begin, std::size_t count) {
      kernels<T>().largest_rows(in[0].data, lists_.begin.data() + begin, lists_.items.data(), count, y.columns,
                                y.row(begin).data());
    });
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    kernels<T>().largest_rows_backward(in[0].data, lists_.begin.data(), lists_.items.data(), y.rows, y.columns, y.data,
                                       dy.data, d_in[0].data);
  }

 private:
  const Lists& lists_;
};

}  // namespace

template <class T>
Var segment_sum(Tape<T>& tape, Var x, const Lists& lists) {
  return tape.apply(tape.template make<SegmentSum<T>>(lists, false), {&x, 1});
}

template <class T>
Var segment_mean(Tape<T>& tape, Var x, const Lists& lists) {
  return tape.apply(tape.template make<SegmentSum<T>>(lists, true), {&x, 1});
}

template <class T>
Var segment_max(Tape<T>& tape, Var x, const Lists& lists) {
  return tape.apply(tape.template make<SegmentMax<T>>(lists), {&x, 1});
}

#define EMPLACE_INSTANTIATE(T)                            \
  template Var segment_sum(Tape<T>&, Var, const Lists&);  \
  template Var segment_mean(Tape<T>&, Var, const Lists&); \
  template Var segment_max(Tape<T>&, Var, const Lists&);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
