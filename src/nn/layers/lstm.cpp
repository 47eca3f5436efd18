// lstm, bidirectional_lstm, gate_sums.
#include <algorithm>

#include "base/interrupt.hpp"
#include "nn/kernels/gemm.hpp"
#include "nn/layers/elementwise.hpp"
#include "nn/layers/layers.hpp"
#include "nn/layers/lstm_cell.hpp"
#include "nn/layers/lstm_inputs.hpp"
#include "nn/layers/recurrent.hpp"

namespace emplace::nn {

namespace {

//   z = x W + b, beta added to the columns of f;  dx, dW, db, dbeta as in lstm
template <class T>
class GateSums final : public Op<T> {
 public:
  std::string_view name() const override { return "gate_sums"; }

  Shape shape(std::span<const Shape> in) const override {
    const std::size_t columns = in[lstm_weight].columns;
    if (in[lstm_weight].rows != in[lstm_input].columns || columns % 4 != 0 ||
        (in[lstm_bias].size() > 0 && in[lstm_bias] != Shape{1, columns}) ||
        (in[lstm_forget].size() > 0 && in[lstm_forget] != Shape{1, 1}))
      wrong_shapes(name(), in);
    return {in[lstm_input].rows, columns};
  }

  void forward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<T> z) override {
    LstmInputs<T>(in, in[lstm_input].columns).gate_sums(z);
  }

  void backward(Tape<T>&, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> dz,
                std::span<const Matrix<T>> d_in) const override {
    LstmInputs<T>(in, in[lstm_input].columns).backward(dz, d_in);
  }
};

// The formulas are in recurrent.hpp. The result has T B rows of h and below them B rows of the last c.
//   backward, from the last step read:
//     dz_t as in lstm_cell.hpp with dh_t = d_result_t + dz_{t+1} W_h^T
//   over all steps:
//     dW_x += X^T dZ;  dW_h += H_before^T dZ;  db += column sums of dZ;  dbeta += sum of dZ_f;  dX += dZ W_x^T
template <class T>
class Lstm final : public Op<T> {
 public:
  explicit Lstm(const LstmSpec& spec) : spec_(spec) {}

  std::string_view name() const override { return "lstm"; }

  Shape shape(std::span<const Shape> in) const override {
    const std::size_t h = lstm_width(name(), in, read_columns(in[0].columns), spec_.batch);
    if (spec_.summed && (in[0].columns != 4 * h || in[lstm_bias].size() > 0 || in[lstm_forget].size() > 0))
      wrong_shapes(name(), in);
    return {in[0].rows + spec_.batch, h};
  }

  void forward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<T> result) override {
    const LstmInputs<T> inputs(in, read_columns(in[0].columns));
    const std::size_t batch = spec_.batch, steps = in[0].rows / batch, h = result.columns;
    gates_ = tape.matrix(in[0].rows, 4 * h);
    cells_ = tape.matrix(in[0].rows, h);
    squashed_ = tape.matrix(in[0].rows, h);
    if (spec_.summed)
      std::ranges::copy(in[0].all(), gates_.data);
    else
      inputs.gate_sums(gates_);
    const Packed<T> recurrent = pack<T>(tape, inputs.recurrent);
    for (std::size_t s = 0; s < steps; ++s) {
      stop_point();
      const std::size_t at = row(s, steps);
      const Matrix<T> gates = gates_.middle(at, batch);
      const Matrix<const T> hidden = s == 0 ? inputs.hidden : result.middle(row(s - 1, steps), batch);
      if (hidden.data != nullptr) multiply<T>(hidden, recurrent, gates, Into::add, s % 2 == 1);
      lstm_cell(gates, cell_before(inputs, s, steps), cells_.row(at).data(), squashed_.row(at).data(),
                result.row(at).data(), h);
    }
    std::ranges::copy(cells_.middle(row(steps - 1, steps), batch).all(), result.row(in[0].rows).data());
  }

  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T> result, Matrix<const T> d_result,
                std::span<const Matrix<T>> d_in) const override {
    const LstmInputs<T> inputs(in, read_columns(in[0].columns));
    const std::size_t batch = spec_.batch, steps = in[0].rows / batch, h = result.columns;
    const Matrix<T> d_gates = tape.matrix(in[0].rows, 4 * h);
    const Matrix<T> d_hidden = tape.matrix(batch, h);  // gradient from the next step
    const Matrix<T> d_cell = tape.matrix(batch, h);
    const Packed<T> turned = pack<T>(tape, inputs.recurrent.transposed());
    std::ranges::fill(d_hidden.all(), T{0});
    std::ranges::copy(d_result.middle(in[0].rows, batch).all(), d_cell.data);
    for (std::size_t s = steps; s-- > 0;) {
      stop_point();
      const std::size_t at = row(s, steps);
      add_all<T>(d_result.middle(at, batch).all(), d_hidden.all());
      lstm_cell_backward<T>(gates_.middle(at, batch), cell_before(inputs, s, steps), squashed_.row(at).data(),
                            d_hidden.data, h, d_gates.middle(at, batch), d_cell.data);
      if (s > 0 || d_in[lstm_hidden].data != nullptr)
        multiply<T>(d_gates.middle(at, batch), turned, d_hidden, Into::overwrite, s % 2 == 1);
    }
    if (d_in[lstm_hidden].data != nullptr) add_all<T>(d_hidden.all(), d_in[lstm_hidden].all());
    if (d_in[lstm_cell_start].data != nullptr) add_all<T>(d_cell.all(), d_in[lstm_cell_start].all());
    if (!spec_.summed)
      inputs.backward(d_gates, d_in);
    else if (d_in[lstm_input].data != nullptr)
      add_all<T>(d_gates.all(), d_in[lstm_input].all());
    if (d_in[lstm_weight].data == nullptr) return;
    // The states before each step: for all steps except the first one read, they are one step away from the gates.
    const Strided<T> d_recurrent = inputs.recurrent_part(d_in[lstm_weight]);
    const std::size_t later = (steps - 1) * batch;
    multiply<T>(Strided<const T>(result.middle(spec_.reverse ? batch : 0, later)).transposed(),
                d_gates.middle(spec_.reverse ? 0 : batch, later), d_recurrent, Into::add);
    if (inputs.hidden.data != nullptr)
      multiply<T>(Strided<const T>(inputs.hidden).transposed(), d_gates.middle(row(0, steps), batch), d_recurrent,
                  Into::add);
  }

 private:
  std::size_t read_columns(std::size_t columns) const { return spec_.summed ? 0 : columns; }
  // The first row of the s-th step read.
  std::size_t row(std::size_t s, std::size_t steps) const { return (spec_.reverse ? steps - 1 - s : s) * spec_.batch; }
  const T* cell_before(const LstmInputs<T>& inputs, std::size_t s, std::size_t steps) const {
    return s == 0 ? inputs.cell.data : cells_.row(row(s - 1, steps)).data();
  }

  LstmSpec spec_;
  Matrix<T> gates_, cells_, squashed_;  // T B x 4H, H, H
};

}  // namespace

template <class T>
LstmResult lstm(Tape<T>& tape, const LstmVars& vars, const LstmSpec& spec) {
  const auto inputs = lstm_input_list(vars);
  const Var all = tape.apply(tape.template make<Lstm<T>>(spec), inputs);
  const std::size_t rows = tape.value(vars.input).rows, batch = spec.batch;
  return {tape.rows(all, 0, rows), tape.rows(all, spec.reverse ? 0 : rows - batch, batch), tape.rows(all, rows, batch)};
}

template <class T>
Var gate_sums(Tape<T>& tape, Var input, Var weight, Var bias, Var forget_bias) {
  const auto inputs = lstm_input_list({input, weight, bias, forget_bias, {}, {}});
  return tape.apply(tape.template make<GateSums<T>>(), inputs);
}

template <class T>
LstmResult bidirectional_lstm(Tape<T>& tape, const LstmVars& forward, const LstmVars& backward, std::size_t batch) {
  const LstmResult there = lstm(tape, forward, {.batch = batch, .reverse = false});
  const LstmResult back = lstm(tape, backward, {.batch = batch, .reverse = true});
  const auto both = [&](Var a, Var b) {
    const Var parts[] = {a, b};
    return concat_columns<T>(tape, parts);
  };
  return {both(there.hidden, back.hidden), both(there.last_hidden, back.last_hidden),
          both(there.last_cell, back.last_cell)};
}

template LstmResult lstm(Tape<float>&, const LstmVars&, const LstmSpec&);
template LstmResult lstm(Tape<double>&, const LstmVars&, const LstmSpec&);
template Var gate_sums(Tape<float>&, Var, Var, Var, Var);
template Var gate_sums(Tape<double>&, Var, Var, Var, Var);
template LstmResult bidirectional_lstm(Tape<float>&, const LstmVars&, const LstmVars&, std::size_t);
template LstmResult bidirectional_lstm(Tape<double>&, const LstmVars&, const LstmVars&, std::size_t);

}  // namespace emplace::nn
