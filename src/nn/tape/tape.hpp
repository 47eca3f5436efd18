// A reverse-mode tape with matrix-sized nodes. In each step, ops are applied (each computes its result immediately),
// gradients of some results are seeded, and backward() adds the gradients of all parameters to one flat vector. The
// memory is an arena that is kept from step to step: steps of the same shape allocate only twice (the second joins the
// blocks of the first).
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/tape/arena.hpp"
#include "nn/tape/parameters.hpp"

namespace emplace::nn {

struct Shape {
  std::size_t rows = 0, columns = 0;
  [[nodiscard]] std::size_t size() const { return rows * columns; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

// A view of a dense row-major matrix; it does not own its memory.
template <class T>
struct Matrix {
  T* data = nullptr;
  std::size_t rows = 0, columns = 0;

  [[nodiscard]] std::size_t size() const { return rows * columns; }
  [[nodiscard]] Shape shape() const { return {rows, columns}; }
  [[nodiscard]] std::span<T> all() const { return {data, size()}; }
  [[nodiscard]] std::span<T> row(std::size_t i) const { return {data + i * columns, columns}; }
  // Rows [begin, begin + count).
  [[nodiscard]] Matrix middle(std::size_t begin, std::size_t count) const {
    return {data + begin * columns, count, columns};
  }
  T& operator()(std::size_t i, std::size_t j) const { return data[i * columns + j]; }
  operator Matrix<const T>() const { return {data, rows, columns}; }
};

// A value on the tape. A default-constructed one is "none", for optional inputs of ops.
struct Var {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t id = none;
  [[nodiscard]] bool is_none() const { return id == none; }
};

template <class T>
class Tape;

// An op has four small functions. It is in the tape's arena (its destructor is not called), where it may also keep data
// for its backward(). T is float or double. An input without elements has a null pointer, and an optional one that is
// none is 0 x 0.
template <class T>
class Op {
 public:
  [[nodiscard]] virtual std::string_view name() const = 0;
  // The shape of the result, from those of the inputs; calls wrong_shapes() if they do not fit.
  [[nodiscard]] virtual Shape shape(std::span<const Shape> inputs) const = 0;
  virtual void forward(Tape<T>& tape, std::span<const Matrix<const T>> inputs, Matrix<T> result) = 0;
  // Adds the gradient by input i, given `d_result`, to d_inputs[i]. d_inputs[i].data is null if that gradient is not
  // wanted or the input has no elements. Memory of the tape allocated here is released afterwards.
  virtual void backward(Tape<T>& tape, std::span<const Matrix<const T>> inputs, Matrix<const T> result,
                        Matrix<const T> d_result, std::span<const Matrix<T>> d_inputs) const = 0;
  // Whether backward() calls Tape::is_fresh() for this input, and processes its inputs in their order.
  [[nodiscard]] virtual bool overwrites(std::size_t) const { return false; }

 protected:
  ~Op() = default;
};

// Throws a BugError that names the op and the shapes.
[[noreturn]] void wrong_shapes(std::string_view op, std::span<const Shape> inputs);

template <class T>
class Tape {
 public:
  // Begins a step: clears the tape, but keeps its memory. `values` and `gradient` (may be empty: no gradients are
  // wanted) are as long as the layout and must outlive the step. Gradients are added to the values in `gradient`. For
  // chunks that any rank may compute, each chunk needs its own zeroed vector, to be added in the order of the chunks:
  // adding directly to a partial sum would round differently.
  void begin(std::span<const T> values, std::span<T> gradient);

  // A matrix without a gradient; its memory must stay valid until the step ends.
  Var constant(Matrix<const T> values);
  // The same with a gradient that can be read after backward(), to connect two tapes.
  Var variable(Matrix<const T> values);
  Var parameter(const Slice& slice);
  // Puts an op made with make() on the tape and computes it.
  Var apply(Op<T>& op, std::span<const Var> inputs);
  // Rows [begin, begin + count) of a value, as a view of its memory and of that of its gradient.
  Var rows(Var var, std::size_t begin, std::size_t count);

  [[nodiscard]] Matrix<const T> value(Var var) const;
  // The gradient of the objective by this value, initially zeros. Seeds are added here before backward(). After it,
  // only the gradients of variables can be read: the memory of all others was used again. BugError if the value does
  // not depend on any value with a gradient, or if its gradient is gone.
  Matrix<T> gradient(Var var);
  [[nodiscard]] bool wants_gradient(Var var) const { return !var.is_none() && at(var).wants_gradient; }
  // Within backward() of an op that overwrites the input: whether d_inputs[i] has no value yet, and must be set instead
  // of added to.
  [[nodiscard]] bool is_fresh(std::size_t i) const { return fresh_[i] != 0; }
  // Computes all gradients from the seeds, in reverse order of application. Must be called only once per step.
  void backward();

  // Memory until the next begin().
  void* bytes(std::size_t count, std::size_t alignment = 64) { return arena_.bytes(count, alignment); }
  template <class U>
  std::span<U> array(std::size_t count) {
    return {static_cast<U*>(bytes(count * sizeof(U))), count};  // not initialised
  }
  Matrix<T> matrix(std::size_t rows, std::size_t columns) { return {array<T>(rows * columns).data(), rows, columns}; }
  template <class O, class... Args>
  O& make(Args&&... args) {
    return *new (bytes(sizeof(O), alignof(O))) O(std::forward<Args>(args)...);
  }

 private:
  struct Node {
    Matrix<const T> value;
    T* gradient = nullptr;
    Op<T>* op = nullptr;
    std::span<const Var> inputs;
    Var owner;  // of rows(): the value whose memory this is, from `offset` on
    std::size_t offset = 0;
    bool wants_gradient = false;
  };

  Var add(const Node& node);
  // BugError if the value is none, or of another step that had more values.
  const Node& at(Var var) const;
  // The value and the gradient as arguments of an op.
  Matrix<const T> input(Var var) const;
  Matrix<T> d_input(Var var);
  // Allocates memory, not initialised, for a gradient that has none yet; returns false if the gradient must be added
  // to.
  bool take_fresh(Var var);
  // Memory for a gradient, not initialised: that of a gradient which is not needed any more, if one is large enough.
  Matrix<T> gradient_memory(std::size_t rows, std::size_t columns);
  Matrix<T> zeroed_gradient(Var var);

  Arena arena_;
  std::vector<Node> nodes_;
  std::span<const T> values_;
  std::span<T> gradient_;
  std::vector<Matrix<const T>> inputs_;  // arguments of the current op
  std::vector<Matrix<T>> d_inputs_;
  std::vector<std::uint8_t> fresh_;
  std::vector<Shape> shapes_;
  std::vector<std::span<T>> spent_;  // gradients that backward() needs no more
  bool done_ = false;
};

}  // namespace emplace::nn
