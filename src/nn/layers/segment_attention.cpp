#include "nn/layers/segment_attention.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"
#include "nn/kernels/gemm.hpp"
#include "nn/kernels/in_parts.hpp"
#include "nn/layers/elementwise.hpp"
#include "nn/layers/scores.hpp"

namespace emplace::nn {

namespace {

// The rows of one segment and one head in each input.
template <class T>
struct Block {
  std::size_t begin, rows;                // rows of the segment
  std::size_t memory_begin, memory_rows;  // rows of the previous segment, if it is read
  std::size_t column, width;

  [[nodiscard]] Strided<T> of(Matrix<T> m) const {
    return Strided<T>(m).row_block(begin, rows).column_block(column, width);
  }
  [[nodiscard]] Strided<T> memory_of(Matrix<T> m) const {
    return Strided<T>(m).row_block(memory_begin, memory_rows).column_block(column, width);
  }
};

//   S = f Q K^T with f = 1 / sqrt(width);  P = softmax(S);  O = P V
// P takes more memory than all inputs together, so backward() computes it again:
//   dV += P^T dO;  dP = dO V^T;  dS = P (dP - rowsum(P dP));  dQ += f dS K;  dK += f dS^T Q; the same for the memory
template <class T>
class SegmentAttentionOp final : public Op<T> {
 public:
  explicit SegmentAttentionOp(const SegmentAttentionSpec& spec) : spec_(spec) {}
  std::string_view name() const override { return "segment_attention"; }

  Shape shape(std::span<const Shape> in) const override {
    const Shape query = in[0];
    const bool fits = in[1] == query && in[2] == query && in[3] == in[4] && (in[3].size() == 0 || in[3] == query);
    if (!fits || spec_.heads == 0 || spec_.segment == 0 || query.columns % spec_.heads != 0) wrong_shapes(name(), in);
    return query;
  }

  void forward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<T> out) override {
    const bool remembers = in[3].data != nullptr;
    const std::size_t most = most_weights(out.rows, remembers);
    T* const memory = tape.template array<T>(spec_.heads * most).data();
    for_each_block_in_parts<const T>(out.shape(), remembers, [&](const Block<const T>& block, std::size_t first_head) {
      const Matrix<T> p{memory + first_head * most, block.rows, block.memory_rows + block.rows};
      set_weights(in, block, p);
      const Strided<T> result =
          Strided<T>(out).row_block(block.begin, block.rows).column_block(block.column, block.width);
      multiply<T>(Strided<const T>(p).column_block(block.memory_rows, block.rows), block.of(in[2]), result,
                  Into::overwrite);
      if (block.memory_rows > 0)
        multiply<T>(Strided<const T>(p).column_block(0, block.memory_rows), block.memory_of(in[4]), result, Into::add);
    });
  }

  void backward(Tape<T>& tape, std::span<const Matrix<const T>> in, Matrix<const T>, Matrix<const T> d_out,
                std::span<const Matrix<T>> d_in) const override {
    const bool remembers = in[3].data != nullptr;
    const std::size_t most = most_weights(d_out.rows, remembers);
    T* const memory = tape.template array<T>(2 * spec_.heads * most).data();
    for_each_block_in_parts<T>(d_out.shape(), remembers, [&](const Block<T>& at, std::size_t first_head) {
      const Block<const T> block{at.begin, at.rows, at.memory_begin, at.memory_rows, at.column, at.width};
      const Matrix<T> p{memory + 2 * first_head * most, at.rows, at.memory_rows + at.rows};
      set_weights(in, block, p);
      const Strided<const T> d = block.of(d_out), own = Strided<const T>(p).column_block(at.memory_rows, at.rows),
                             earlier = Strided<const T>(p).column_block(0, at.memory_rows);
      if (d_in[2].data != nullptr) multiply<T>(own.transposed(), d, at.of(d_in[2]), Into::add);
      if (d_in[4].data != nullptr && at.memory_rows > 0)
        multiply<T>(earlier.transposed(), d, at.memory_of(d_in[4]), Into::add);
      const Matrix<T> d_scores{memory + (2 * first_head + 1) * most, p.rows, p.columns};
      const Strided<T> d_own = Strided<T>(d_scores).column_block(at.memory_rows, at.rows),
                       d_earlier = Strided<T>(d_scores).column_block(0, at.memory_rows);
      multiply<T>(d, block.of(in[2]).transposed(), d_own, Into::overwrite);
      if (at.memory_rows > 0) multiply<T>(d, block.memory_of(in[4]).transposed(), d_earlier, Into::overwrite);
      softmax_rows_backward<T>(p, d_scores, d_scores);
      const T f = factor(at.width);
      for (T& score : d_scores.all()) score *= f;
      const Strided<const T> from_own = d_own, from_earlier = d_earlier;
      if (d_in[0].data != nullptr) {
        multiply<T>(from_own, block.of(in[1]), at.of(d_in[0]), Into::add);
        if (at.memory_rows > 0) multiply<T>(from_earlier, block.memory_of(in[3]), at.of(d_in[0]), Into::add);
      }
      if (d_in[1].data != nullptr) multiply<T>(from_own.transposed(), block.of(in[0]), at.of(d_in[1]), Into::add);
      if (d_in[3].data != nullptr && at.memory_rows > 0)
        multiply<T>(from_earlier.transposed(), block.of(in[0]), at.memory_of(d_in[3]), Into::add);
    });
  }

 private:
  // Elements of P of the largest block.
  [[nodiscard]] std::size_t most_weights(std::size_t rows, bool remembers) const {
    const std::size_t segment = std::min(spec_.segment, rows);
    return (remembers ? 2 : 1) * segment * segment;
  }
  static T factor(std::size_t width) { return 1 / std::sqrt(static_cast<T>(width)); }

  // P of the block: its rows x (rows of the memory, its own rows).
  static void set_weights(std::span<const Matrix<const T>> in, const Block<const T>& block, const Matrix<T>& p) {
    const Strided<T> scores = p;
    if (block.memory_rows > 0)
      multiply<T>(block.of(in[0]), block.memory_of(in[3]).transposed(), scores.column_block(0, block.memory_rows),
                  Into::overwrite);
    multiply<T>(block.of(in[0]), block.of(in[1]).transposed(), scores.column_block(block.memory_rows, block.rows),
                Into::overwrite);
    const T f = factor(block.width);
    for (T& score : p.all()) score *= f;
    softmax_rows(p);
  }

  template <class U, class Visit>
  void for_each_block(const Shape& shape, bool remembers, std::size_t head, std::size_t heads, Visit&& visit) const {
    const std::size_t width = shape.columns / spec_.heads;
    for (std::size_t begin = 0; begin < shape.rows; begin += spec_.segment) {
      stop_point();
      for (std::size_t h = head; h < head + heads; ++h) {
        const std::size_t before = remembers && begin > 0 ? spec_.segment : 0;
        visit(Block<U>{begin, std::min(spec_.segment, shape.rows - begin), begin - before, before, h * width, width});
      }
    }
  }
  // Calls visit(block, the part's first head), with the heads divided into parts: heads share only their inputs.
  template <class U, class Visit>
  void for_each_block_in_parts(const Shape& shape, bool remembers, Visit&& visit) const {
    const std::size_t keys = (remembers ? 2 : 1) * std::min(spec_.segment, shape.rows);
    const std::size_t cost = keys * shape.rows * (2 * shape.columns / spec_.heads + element_cost);
    in_parts(spec_.heads, cost, 1, [&](std::size_t head, std::size_t heads) {
      for_each_block<U>(shape, remembers, head, heads, [&](const Block<U>& block) { visit(block, head); });
    });
  }

  SegmentAttentionSpec spec_;
};

}  // namespace

template <class T>
Var segment_attention(Tape<T>& tape, const SegmentAttention& vars, const SegmentAttentionSpec& spec) {
  EMPLACE_CHECK(vars.memory_keys.is_none() == vars.memory_values.is_none());
  const Var inputs[] = {vars.query, vars.keys, vars.values, vars.memory_keys, vars.memory_values};
  return tape.apply(tape.template make<SegmentAttentionOp<T>>(spec), inputs);
}

template Var segment_attention(Tape<float>&, const SegmentAttention&, const SegmentAttentionSpec&);
template Var segment_attention(Tape<double>&, const SegmentAttention&, const SegmentAttentionSpec&);

}  // namespace emplace::nn
