#include "nn/layers/decoding.hpp"

#include <algorithm>

#include "nn/kernels/gemm.hpp"
#include "nn/layers/elementwise.hpp"
#include "nn/layers/lstm_cell.hpp"
#include "nn/layers/scores.hpp"

namespace emplace::nn {

namespace {

template <class T>
const Packed<T>* packed(Tape<T>& tape, Matrix<const T> matrix) {
  return &tape.template make<Packed<T>>(pack<T>(tape, matrix));
}

}  // namespace

template <class T>
LinearStep<T>::LinearStep(Tape<T>& tape, Matrix<const T> weight, Matrix<const T> bias, Activation activation)
    : bias_(bias), weight_(packed(tape, weight)), activation_(activation) {
  const Shape shapes[] = {weight.shape(), bias.shape()};
  if (bias.size() > 0 && bias.shape() != Shape{1, weight.columns}) wrong_shapes("LinearStep", shapes);
}

template <class T>
void LinearStep<T>::operator()(Matrix<const T> x, Matrix<T> y) const {
  const Shape shapes[] = {x.shape(), y.shape(), weight_->shape()};
  if (x.shape() != Shape{y.rows, weight_->rows} || y.columns != weight_->columns) wrong_shapes("LinearStep", shapes);
  if (bias_.size() > 0)
    for (std::size_t r = 0; r < y.rows; ++r) std::ranges::copy(bias_.all(), y.row(r).begin());
  multiply<T>(x, *weight_, y, bias_.size() > 0 ? Into::add : Into::overwrite);
  activate_all(activation_, y.all());
}

template <class T>
LstmStep<T>::LstmStep(Tape<T>& tape, Matrix<const T> weight, std::size_t batch) : weight_(packed(tape, weight)) {
  const std::size_t h = weight.columns / 4;
  const Shape shapes[] = {weight.shape()};
  if (weight.columns != 4 * h || weight.rows < h) wrong_shapes("LstmStep", shapes);
  inputs_ = tape.matrix(batch, weight.rows);
  squashed_ = tape.matrix(batch, h);
}

template <class T>
void LstmStep<T>::operator()(Matrix<T> gates, Matrix<const T> fed, Matrix<T> hidden, Matrix<T> cell) const {
  const Shape shapes[] = {gates.shape(), fed.shape(), hidden.shape(), cell.shape(), weight_->shape()};
  const Shape state = squashed_.shape();
  const std::size_t r = inputs_.columns - state.columns;
  if (gates.shape() != Shape{state.rows, weight_->columns} || (r > 0 && fed.rows != state.rows) || fed.columns != r ||
      hidden.shape() != state || cell.shape() != state)
    wrong_shapes("LstmStep", shapes);
  if (r > 0)
    for (std::size_t b = 0; b < state.rows; ++b)
      std::ranges::copy(hidden.row(b), std::ranges::copy(fed.row(b), inputs_.row(b).begin()).out);
  multiply<T>(r > 0 ? inputs_ : hidden, *weight_, gates, Into::add);
  lstm_cell(gates, cell.data, cell.data, squashed_.data, hidden.data, state.columns);
}

template <class T>
struct AttentionStep<T>::Sides {
  Side<T> queries, keys;
};

template <class T>
AttentionStep<T>::AttentionStep(Tape<T>& tape, Matrix<const T> keys, Matrix<const T> memory, Matrix<const T> v,
                                std::size_t batch)
    : sides_(&tape.template make<Sides>()),
      v_(v),
      memory_(packed(tape, memory)),
      weights_(tape.matrix(batch, keys.rows)) {
  const Shape shapes[] = {keys.shape(), memory.shape(), v.shape()};
  if (keys.rows != memory.rows || keys.rows == 0 || v.shape() != Shape{keys.columns, 1})
    wrong_shapes("AttentionStep", shapes);
  sides_->queries = make_side(tape, batch, keys.columns);
  sides_->keys = make_side(tape, keys.rows, keys.columns);
  set_side(sides_->keys, keys);
}

template <class T>
void AttentionStep<T>::operator()(Matrix<const T> query, Matrix<T> context) const {
  const Shape shapes[] = {query.shape(), context.shape(), sides_->keys.raw.shape(), memory_->shape()};
  if (query.shape() != Shape{weights_.rows, v_.rows} || context.shape() != Shape{weights_.rows, memory_->columns})
    wrong_shapes("AttentionStep", shapes);
  set_side(sides_->queries, query);
  attention_scores(sides_->queries, sides_->keys, v_.data, weights_);
  softmax_rows(weights_);
  multiply<T>(weights_, *memory_, context, Into::overwrite);
}

template class LinearStep<float>;
template class LinearStep<double>;
template class LstmStep<float>;
template class LstmStep<double>;
template class AttentionStep<float>;
template class AttentionStep<double>;

}  // namespace emplace::nn
