// concat_columns, slice_columns, gather_rows.
#include <algorithm>

#include "emplace/base/error.hpp"
#include "nn/layers/elementwise.hpp"

namespace emplace::nn {

namespace {

//   z = [x_0, x_1, ...] side by side;  dx_i += its columns of dz
template <class T>
class ConcatColumns final : public Op<T> {
 public:
  std::string_view name() const override { return "concat_columns"; }
  Shape shape(std::span<const Shape> in) const override {
    Shape whole{in.empty() ? 0 : in[0].rows, 0};
    for (const Shape& part : in) {
      if (part.rows != whole.rows) wrong_shapes(name(), in);
      whole.columns += part.columns;
    }
    return whole;
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> z) override {
    std::size_t begin = 0;
    for (const Matrix<const T>& part : in) {
      for (std::size_t r = 0; r < z.rows; ++r) std::ranges::copy(part.row(r), z.row(r).begin() + begin);
      begin += part.columns;
    }
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> dz,
                std::span<const Matrix<T>> d_in) const override {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (d_in[i].data != nullptr)
        for (std::size_t r = 0; r < dz.rows; ++r) add_all<T>(dz.row(r).subspan(begin, in[i].columns), d_in[i].row(r));
      begin += in[i].columns;
    }
  }
};

//   y = columns [begin, begin + count) of x;  these columns of dx += dy
template <class T>
class SliceColumns final : public Op<T> {
 public:
  SliceColumns(std::size_t begin, std::size_t count) : begin_(begin), count_(count) {}
  std::string_view name() const override { return "slice_columns"; }
  Shape shape(std::span<const Shape> in) const override {
    if (begin_ > in[0].columns || count_ > in[0].columns - begin_) wrong_shapes(name(), in);
    return {in[0].rows, count_};
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    for (std::size_t r = 0; r < y.rows; ++r) std::ranges::copy(in[0].row(r).subspan(begin_, count_), y.row(r).begin());
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>>, Matrix<const T>, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    for (std::size_t r = 0; r < dy.rows; ++r) add_all<T>(dy.row(r), d_in[0].row(r).subspan(begin_, count_));
  }

 private:
  std::size_t begin_, count_;
};

//   y_i = table_{index[i]};  dtable_{index[i]} += dy_i, in the order of i
template <class T>
class GatherRows final : public Op<T> {
 public:
  explicit GatherRows(std::span<const std::uint32_t> index) : index_(index) {}
  std::string_view name() const override { return "gather_rows"; }
  Shape shape(std::span<const Shape> in) const override { return {index_.size(), in[0].columns}; }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    for (std::size_t i = 0; i < y.rows; ++i) {
      EMPLACE_CHECK(index_[i] < in[0].rows, "gather_rows takes row {} of {}", index_[i], in[0].rows);
      std::ranges::copy(in[0].row(index_[i]), y.row(i).begin());
    }
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>>, Matrix<const T>, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    for (std::size_t i = 0; i < dy.rows; ++i) add_all<T>(dy.row(i), d_in[0].row(index_[i]));
  }

 private:
  std::span<const std::uint32_t> index_;
};

}  // namespace

template <class T>
Var concat_columns(Tape<T>& tape, std::span<const Var> parts) {
  return tape.apply(tape.template make<ConcatColumns<T>>(), parts);
}

template <class T>
Var slice_columns(Tape<T>& tape, Var x, std::size_t begin, std::size_t count) {
  return tape.apply(tape.template make<SliceColumns<T>>(begin, count), {&x, 1});
}

template <class T>
Var gather_rows(Tape<T>& tape, Var table, std::span<const std::uint32_t> index) {
  return tape.apply(tape.template make<GatherRows<T>>(index), {&table, 1});
}

#define EMPLACE_INSTANTIATE(T)                                         \
  template Var concat_columns(Tape<T>&, std::span<const Var>);         \
  template Var slice_columns(Tape<T>&, Var, std::size_t, std::size_t); \
  template Var gather_rows(Tape<T>&, Var, std::span<const std::uint32_t>);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
