#include <algorithm>

#include "nn/kernels/gemm.hpp"
#include "nn/layers/elementwise.hpp"
#include "nn/layers/recurrent.hpp"
#include "nn/layers/scores.hpp"

namespace emplace::nn {

namespace {

//   U as in scores.hpp;  A = softmax of its rows;  C = A memory
//   dA = dC memory^T;  dU = A (dA - rowsum(A dA));  dmemory += A^T dC;  the rest as in scores.hpp
template <class T>
class Attention final : public Op<T> {
 public:
  std::string_view name() const override { return "attention"; }

  Shape shape(std::span<const Shape> in) const override {
    const Shape query = in[0], keys = in[1], memory = in[2], v = in[3];
    if (query.columns != keys.columns || keys.rows != memory.rows || keys.rows == 0 || v != Shape{keys.columns, 1})
      wrong_shapes(name(), in);
    return {query.rows, memory.columns};
  }

  void forward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<T> context) override {
    queries_ = make_side(tape, in[0].rows, in[0].columns);
    keys_ = make_side(tape, in[1].rows, in[1].columns);
    set_side(queries_, in[0]);
    set_side(keys_, in[1]);
    weights_ = tape.matrix(in[0].rows, in[1].rows);
    attention_scores(queries_, keys_, in[3].data, weights_);
    softmax_rows(weights_);
    multiply<T>(weights_, in[2], context, Into::overwrite);
  }

  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> d_context,
                std::span<const Matrix<T>> d_in) const override {
    if (d_in[2].data != nullptr) multiply<T>(Strided<const T>(weights_).transposed(), d_context, d_in[2], Into::add);
    const Matrix<T> d_scores = tape.matrix(weights_.rows, weights_.columns);
    multiply<T>(d_context, Strided<const T>(in[2]).transposed(), d_scores, Into::overwrite);
    softmax_rows_backward<T>(weights_, d_scores, d_scores);
    Matrix<T> d_queries = d_in[0];
    if (d_queries.data == nullptr) {
      d_queries = tape.matrix(in[0].rows, in[0].columns);
      std::ranges::fill(d_queries.all(), T{0});
    }
    attention_scores_backward<T>(queries_, keys_, in[3].data, d_scores, d_queries, d_in[1], d_in[3].data);
  }

 private:
  Side<T> queries_, keys_;
  Matrix<T> weights_;  // n x M
};

}  // namespace

template <class T>
Var attention(Tape<T>& tape, Var query, Var keys, Var memory, Var v) {
  const Var inputs[] = {query, keys, memory, v};
  return tape.apply(tape.template make<Attention<T>>(), inputs);
}

template Var attention(Tape<float>&, Var, Var, Var, Var);
template Var attention(Tape<double>&, Var, Var, Var, Var);

}  // namespace emplace::nn
