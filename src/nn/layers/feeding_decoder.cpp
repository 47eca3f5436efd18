#include <algorithm>

#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"
#include "nn/kernels/gemm.hpp"
#include "nn/layers/elementwise.hpp"
#include "nn/layers/layers.hpp"
#include "nn/layers/lstm_cell.hpp"
#include "nn/layers/lstm_inputs.hpp"
#include "nn/layers/recurrent.hpp"
#include "nn/layers/scores.hpp"

namespace emplace::nn {

namespace {

enum FeedingInput : std::size_t { query_weight = lstm_input_count, keys, memory, score_vector, feeding_input_count };

// The formulas are in recurrent.hpp. The result is the fed state s_t = [context_t, h_t], T B x (E + H), and
// z_t = x_t W_x + s_{t-1} W_s + b, so that the two recurrent products are one.
//   backward, from the last step:
//     ds_t = d_result_t + dz_{t+1} W_s^T = [dcontext_t, dh_t];  da_t = dcontext_t memory^T
//     du_t, dquery_t as in attention;  dh_t += dquery_t W_q^T;  dz_t as in lstm_cell.hpp
//   over all steps:
//     dmemory += A^T dContext;  dW_q += H^T dQuery;  dW_s += S_before^T dZ;  the rest as in lstm
template <class T>
class FeedingDecoder final : public Op<T> {
 public:
  explicit FeedingDecoder(std::size_t batch) : batch_(batch) {}

  std::string_view name() const override { return "feeding_decoder"; }

  Shape shape(std::span<const Shape> in) const override {
    const std::size_t context = in[memory].columns, a = in[keys].columns;
    const std::size_t h = lstm_width(name(), in, in[0].columns + context, batch_);
    if (in[query_weight] != Shape{h, a} || in[keys].rows != in[memory].rows || in[keys].rows == 0 ||
        in[score_vector] != Shape{a, 1})
      wrong_shapes(name(), in);
    return {in[0].rows, context + h};
  }

  void forward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<T> states) override {
    const LstmInputs<T> inputs(in, in[0].columns);
    const std::size_t rows = states.rows, e = in[memory].columns, h = states.columns - e, a = in[keys].columns;
    gates_ = tape.matrix(rows, 4 * h);
    cells_ = tape.matrix(rows, h);
    squashed_ = tape.matrix(rows, h);
    weights_ = tape.matrix(rows, in[keys].rows);
    raw_queries_ = tape.matrix(rows, a);
    queries_ = make_side(tape, rows, a);
    keys_ = make_side(tape, in[keys].rows, a);
    set_side(keys_, in[keys]);
    first_ = tape.matrix(batch_, e + h);
    std::ranges::fill(first_.all(), T{0});
    if (inputs.hidden.data != nullptr)
      for (std::size_t b = 0; b < batch_; ++b) std::ranges::copy(inputs.hidden.row(b), first_.row(b).begin() + e);

    inputs.gate_sums(gates_);
    const Packed<T> recurrent = pack<T>(tape, inputs.recurrent), to_query = pack<T>(tape, in[query_weight]);
    const Packed<T> remembered = pack<T>(tape, in[memory]);
    bool backwards = false;
    for (std::size_t at = 0; at < rows; at += batch_) {
      stop_point();
      backwards = !backwards;
      const Matrix<T> gates = gates_.middle(at, batch_), state = states.middle(at, batch_);
      if (at > 0 || inputs.hidden.data != nullptr)
        multiply<T>(state_before(states, at), recurrent, gates, Into::add, backwards);
      lstm_cell(gates, cell_before(inputs, at), cells_.row(at).data(), squashed_.row(at).data(), state.data + e, e + h);
      const Matrix<T> raw = raw_queries_.middle(at, batch_), weights = weights_.middle(at, batch_);
      multiply<T>(Strided<const T>(state).column_block(e, h), to_query, raw, Into::overwrite, backwards);
      Side<T> query = side_at(at);
      set_side<T>(query, raw);
      attention_scores(query, keys_, in[score_vector].data, weights);
      softmax_rows(weights);
      multiply<T>(weights, remembered, Strided<T>(state).column_block(0, e), Into::overwrite, backwards);
    }
  }

  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T> states, Matrix<const T> d_result,
                std::span<const Matrix<T>> d_in) const override {
    const LstmInputs<T> inputs(in, in[0].columns);
    const std::size_t rows = states.rows, e = in[memory].columns, h = states.columns - e, a = in[keys].columns;
    const Matrix<T> d_gates = tape.matrix(rows, 4 * h), d_context = tape.matrix(rows, e);
    const Matrix<T> d_queries = tape.matrix(rows, a), d_scores = tape.matrix(batch_, in[keys].rows);
    const Matrix<T> d_state = tape.matrix(batch_, e + h), d_cell = tape.matrix(batch_, h);
    for (const Matrix<T>& zeroed : {d_queries, d_state, d_cell}) std::ranges::fill(zeroed.all(), T{0});

    const Packed<T> recurrent = pack<T>(tape, inputs.recurrent.transposed());
    const Packed<T> from_query = pack<T>(tape, Strided<const T>(in[query_weight]).transposed());
    const Packed<T> remembered = pack<T>(tape, Strided<const T>(in[memory]).transposed());
    bool backwards = false;
    for (std::size_t at = rows; at > 0;) {
      stop_point();
      at -= batch_;
      backwards = !backwards;
      add_all<T>(d_result.middle(at, batch_).all(), d_state.all());
      const Matrix<T> context = d_context.middle(at, batch_), query = d_queries.middle(at, batch_);
      for (std::size_t b = 0; b < batch_; ++b) std::ranges::copy(d_state.row(b).first(e), context.row(b).begin());
      multiply<T>(context, remembered, d_scores, Into::overwrite, backwards);
      softmax_rows_backward<T>(weights_.middle(at, batch_), d_scores, d_scores);
      attention_scores_backward<T>(side_at(at), keys_, in[score_vector].data, d_scores, query, d_in[keys],
                                   d_in[score_vector].data);
      multiply<T>(query, from_query, Strided<T>(d_state).column_block(e, h), Into::add, backwards);
      const Matrix<T> d_sums = d_gates.middle(at, batch_);
      lstm_cell_backward<T>(gates_.middle(at, batch_), cell_before(inputs, at), squashed_.row(at).data(),
                            d_state.data + e, e + h, d_sums, d_cell.data);
      if (at > 0 || d_in[lstm_hidden].data != nullptr)
        multiply<T>(d_sums, recurrent, d_state, Into::overwrite, backwards);
    }
    if (d_in[lstm_hidden].data != nullptr)
      for (std::size_t b = 0; b < batch_; ++b) add_all<T>(d_state.row(b).subspan(e), d_in[lstm_hidden].row(b));
    if (d_in[lstm_cell_start].data != nullptr) add_all<T>(d_cell.all(), d_in[lstm_cell_start].all());
    inputs.backward(d_gates, d_in);
    if (d_in[memory].data != nullptr)
      multiply<T>(Strided<const T>(weights_).transposed(), d_context, d_in[memory], Into::add);
    if (d_in[query_weight].data != nullptr)
      multiply<T>(Strided<const T>(states).column_block(e, h).transposed(), d_queries, d_in[query_weight], Into::add);
    if (d_in[lstm_weight].data != nullptr) {
      const Strided<T> d_recurrent = inputs.recurrent_part(d_in[lstm_weight]);
      multiply<T>(Strided<const T>(states.middle(0, rows - batch_)).transposed(), d_gates.middle(batch_, rows - batch_),
                  d_recurrent, Into::add);
      if (inputs.hidden.data != nullptr)
        multiply<T>(Strided<const T>(first_).transposed(), d_gates.middle(0, batch_), d_recurrent, Into::add);
    }
  }

 private:
  Matrix<const T> state_before(Matrix<T> states, std::size_t at) const {
    return at == 0 ? first_ : states.middle(at - batch_, batch_);
  }
  const T* cell_before(const LstmInputs<T>& inputs, std::size_t at) const {
    return at == 0 ? inputs.cell.data : cells_.row(at - batch_).data();
  }
  Side<T> side_at(std::size_t at) const {
    return {raw_queries_.middle(at, batch_), queries_.exponential.middle(at, batch_),
            queries_.large.subspan(at, batch_)};
  }

  std::size_t batch_;
  Matrix<T> gates_, cells_, squashed_, weights_, raw_queries_, first_;
  Side<T> queries_, keys_;
};

}  // namespace

template <class T>
FeedingResult feeding_decoder(Tape<T>& tape, const LstmVars& lstm, Var query_weight_var, Var keys_var, Var memory_var,
                              Var v, const LstmSpec& spec) {
  EMPLACE_CHECK(!spec.reverse, "a decoder with input feeding reads from the first step");
  std::array<Var, feeding_input_count> inputs;
  std::ranges::copy(lstm_input_list(lstm), inputs.begin());
  inputs[query_weight] = query_weight_var;
  inputs[keys] = keys_var;
  inputs[memory] = memory_var;
  inputs[score_vector] = v;
  const Var states = tape.apply(tape.template make<FeedingDecoder<T>>(spec.batch), inputs);
  const std::size_t e = tape.value(memory_var).columns, h = tape.value(states).columns - e;
  return {slice_columns(tape, states, e, h), slice_columns(tape, states, 0, e)};
}

template FeedingResult feeding_decoder(Tape<float>&, const LstmVars&, Var, Var, Var, Var, const LstmSpec&);
template FeedingResult feeding_decoder(Tape<double>&, const LstmVars&, Var, Var, Var, Var, const LstmSpec&);

}  // namespace emplace::nn
