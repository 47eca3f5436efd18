// add, add_row, scale, activate, squash.
#include <algorithm>

#include "nn/kernels/in_parts.hpp"
#include "nn/layers/elementwise.hpp"

namespace emplace::nn {

namespace {

//   z = x + y;  dx += dz;  dy += dz
template <class T>
class Add final : public Op<T> {
 public:
  std::string_view name() const override { return "add"; }
  Shape shape(std::span<const Shape> in) const override {
    if (in[0] != in[1]) wrong_shapes(name(), in);
    return in[0];
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> z) override {
    in_parts(z.size(), element_cost, 16, [&](std::size_t begin, std::size_t count) {
      std::ranges::copy(in[0].all().subspan(begin, count), z.data + begin);
      add_all<T>(in[1].all().subspan(begin, count), z.all().subspan(begin, count));
    });
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>>, Matrix<const T>, Matrix<const T> dz,
                std::span<const Matrix<T>> d_in) const override {
    in_parts(dz.size(), 2 * element_cost, 16, [&](std::size_t begin, std::size_t count) {
      for (const Matrix<T>& d : d_in)
        if (d.data != nullptr) add_all<T>(dz.all().subspan(begin, count), d.all().subspan(begin, count));
    });
  }
};

//   z_r = x_r + row;  dx += dz;  drow += column sums of dz
template <class T>
class AddRow final : public Op<T> {
 public:
  std::string_view name() const override { return "add_row"; }
  Shape shape(std::span<const Shape> in) const override {
    if (in[1] != Shape{1, in[0].columns}) wrong_shapes(name(), in);
    return in[0];
  }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> z) override {
    std::ranges::copy(in[0].all(), z.data);
    for (std::size_t r = 0; r < z.rows; ++r) add_all<T>(in[1].all(), z.row(r));
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>>, Matrix<const T>, Matrix<const T> dz,
                std::span<const Matrix<T>> d_in) const override {
    if (d_in[0].data != nullptr) add_all<T>(dz.all(), d_in[0].all());
    if (d_in[1].data != nullptr) add_rows<T>(dz, d_in[1].all());
  }
};

//   y = factor x;  dx += factor dy
template <class T>
class Scale final : public Op<T> {
 public:
  explicit Scale(T factor) : factor_(factor) {}
  std::string_view name() const override { return "scale"; }
  Shape shape(std::span<const Shape> in) const override { return in[0]; }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    std::ranges::transform(in[0].all(), y.data, [this](T x) { return factor_ * x; });
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>>, Matrix<const T>, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    add_scaled<T>(factor_, dy.all(), d_in[0].all());
  }

 private:
  T factor_;
};

//   y = activation(x);  dx += dy activation'(x)
template <class T>
class Activate final : public Op<T> {
 public:
  explicit Activate(Activation activation) : activation_(activation) {}
  std::string_view name() const override { return "activate"; }
  Shape shape(std::span<const Shape> in) const override { return in[0]; }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    in_parts(y.size(), 2 * element_cost, 16, [&](std::size_t begin, std::size_t count) {
      std::ranges::copy(in[0].all().subspan(begin, count), y.data + begin);
      activate_all(activation_, y.all().subspan(begin, count));
    });
  }
  void backward(Tape<T>& tape, std::span<const Matrix<const T>>, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    const std::span<T> dx = tape.template array<T>(y.size());
    in_parts(y.size(), 2 * element_cost, 16, [&](std::size_t begin, std::size_t count) {
      activate_backward<T>(activation_, y.all().subspan(begin, count), dy.all().subspan(begin, count),
                           dx.subspan(begin, count));
      add_all<T>(dx.subspan(begin, count), d_in[0].all().subspan(begin, count));
    });
  }

 private:
  Activation activation_;
};

//   y = c tanh(x / temperature);  dx += dy (c - y^2 / c) / temperature
template <class T>
class Squash final : public Op<T> {
 public:
  Squash(T c, T temperature) : c_(c), temperature_(temperature) {}
  std::string_view name() const override { return "squash"; }
  Shape shape(std::span<const Shape> in) const override { return in[0]; }
  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> y) override {
    std::ranges::copy(in[0].all(), y.data);
    squash_all(c_, temperature_, y.all());
  }
  void backward(Tape<T>&, std::span<const Matrix<const T>>, Matrix<const T> y, Matrix<const T> dy,
                std::span<const Matrix<T>> d_in) const override {
    for (std::size_t i = 0; i < y.size(); ++i)
      d_in[0].data[i] += dy.data[i] * ((c_ - y.data[i] * y.data[i] / c_) / temperature_);
  }

 private:
  T c_, temperature_;
};

}  // namespace

template <class T>
Var add(Tape<T>& tape, Var x, Var y) {
  const Var inputs[] = {x, y};
  return tape.apply(tape.template make<Add<T>>(), inputs);
}

template <class T>
Var add_row(Tape<T>& tape, Var x, Var row) {
  const Var inputs[] = {x, row};
  return tape.apply(tape.template make<AddRow<T>>(), inputs);
}

template <class T>
Var scale(Tape<T>& tape, Var x, T factor) {
  return tape.apply(tape.template make<Scale<T>>(factor), {&x, 1});
}

template <class T>
Var activate(Tape<T>& tape, Var x, Activation activation) {
  return tape.apply(tape.template make<Activate<T>>(activation), {&x, 1});
}

template <class T>
void squash_all(T c, T temperature, std::span<T> values) {
  for (T& value : values) value /= temperature;
  activate_all(Activation::tanh, values);
  for (T& value : values) value *= c;
}

template <class T>
Var squash(Tape<T>& tape, Var x, T c, T temperature) {
  return tape.apply(tape.template make<Squash<T>>(c, temperature), {&x, 1});
}

#define EMPLACE_INSTANTIATE(T)                      \
  template Var add(Tape<T>&, Var, Var);             \
  template Var add_row(Tape<T>&, Var, Var);         \
  template Var scale(Tape<T>&, Var, T);             \
  template Var activate(Tape<T>&, Var, Activation); \
  template Var squash(Tape<T>&, Var, T, T);         \
  template void squash_all(T, T, std::span<T>);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
