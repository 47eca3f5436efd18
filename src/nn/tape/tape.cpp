#include "nn/tape/tape.hpp"

#include <algorithm>
#include <string>

#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"

namespace emplace::nn {

void wrong_shapes(std::string_view op, std::span<const Shape> inputs) {
  std::string shapes;
  for (const Shape& shape : inputs) shapes += fmt::format(" {}x{}", shape.rows, shape.columns);
  EMPLACE_CHECK(false, "{} does not take inputs of{}", op, shapes);
  throw BugError("unreachable");
}

template <class T>
void Tape<T>::begin(std::span<const T> values, std::span<T> gradient) {
  EMPLACE_CHECK(gradient.empty() || gradient.size() == values.size(), "{} values and {} gradients", values.size(),
                gradient.size());
  arena_.clear();
  nodes_.clear();
  values_ = values;
  gradient_ = gradient;
  spent_.clear();
  done_ = false;
}

template <class T>
Var Tape<T>::add(const Node& node) {
  EMPLACE_CHECK(nodes_.size() < Var::none);
  nodes_.push_back(node);
  return {static_cast<std::uint32_t>(nodes_.size() - 1)};
}

template <class T>
Var Tape<T>::constant(Matrix<const T> values) {
  Node node;
  node.value = values;
  return add(node);
}

template <class T>
Var Tape<T>::variable(Matrix<const T> values) {
  Node node;
  node.value = values;
  node.wants_gradient = true;
  return add(node);
}

template <class T>
Var Tape<T>::parameter(const Slice& slice) {
  EMPLACE_CHECK(slice.begin <= values_.size() && slice.size() <= values_.size() - slice.begin,
                "a parameter of {} x {} at {} of {}", slice.rows, slice.columns, slice.begin, values_.size());
  Node node;
  node.value = {values_.data() + slice.begin, slice.rows, slice.columns};
  node.wants_gradient = !gradient_.empty();
  if (node.wants_gradient) node.gradient = gradient_.data() + slice.begin;
  return add(node);
}

template <class T>
Var Tape<T>::apply(Op<T>& op, std::span<const Var> inputs) {
  EMPLACE_CHECK(!done_, "{} after backward()", op.name());
  stop_point();
  const std::span<Var> kept = array<Var>(inputs.size());
  std::ranges::copy(inputs, kept.begin());
  Node node;
  node.op = &op;
  node.inputs = kept;
  inputs_.clear();
  shapes_.clear();
  for (const Var var : inputs) {
    inputs_.push_back(input(var));
    shapes_.push_back(inputs_.back().shape());
    node.wants_gradient = node.wants_gradient || wants_gradient(var);
  }
  const Shape shape = op.shape(shapes_);
  const Matrix<T> result = matrix(shape.rows, shape.columns);
  op.forward(*this, inputs_, result);
  node.value = result;
  return add(node);
}

template <class T>
Var Tape<T>::rows(Var var, std::size_t begin, std::size_t count) {
  const Node& whole = at(var);
  EMPLACE_CHECK(begin <= whole.value.rows && count <= whole.value.rows - begin, "rows [{}, {}) of {}", begin,
                begin + count, whole.value.rows);
  Node part;
  part.value = whole.value.middle(begin, count);
  part.owner = whole.owner.is_none() ? var : whole.owner;
  part.offset = whole.offset + begin * whole.value.columns;
  part.wants_gradient = whole.wants_gradient;
  return add(part);
}

template <class T>
auto Tape<T>::at(Var var) const -> const Node& {
  EMPLACE_CHECK(var.id < nodes_.size(), "a value that is not on the tape");
  return nodes_[var.id];
}

template <class T>
Matrix<const T> Tape<T>::value(Var var) const {
  return at(var).value;
}

template <class T>
Matrix<const T> Tape<T>::input(Var var) const {
  Matrix<const T> seen = var.is_none() ? Matrix<const T>{} : value(var);
  if (seen.size() == 0) seen.data = nullptr;
  return seen;
}

template <class T>
Matrix<T> Tape<T>::d_input(Var var) {
  if (!wants_gradient(var) || value(var).size() == 0) return {};
  return zeroed_gradient(var);
}

template <class T>
bool Tape<T>::take_fresh(Var var) {
  if (!wants_gradient(var)) return false;
  Node& node = nodes_[var.id];
  if (node.gradient != nullptr || !node.owner.is_none() || node.value.size() == 0) return false;
  node.gradient = gradient_memory(node.value.rows, node.value.columns).data;
  return true;
}

template <class T>
Matrix<T> Tape<T>::gradient_memory(std::size_t rows, std::size_t columns) {
  const std::size_t size = rows * columns;
  auto best = spent_.end();
  for (auto each = spent_.begin(); each != spent_.end(); ++each)
    if (each->size() >= size && (best == spent_.end() || each->size() < best->size())) best = each;
  if (best == spent_.end()) return matrix(rows, columns);
  T* const data = best->data();
  *best = spent_.back();
  spent_.pop_back();
  return {data, rows, columns};
}

template <class T>
Matrix<T> Tape<T>::gradient(Var var) {
  EMPLACE_CHECK(!done_ || (at(var).op == nullptr && at(var).owner.is_none()),
                "after backward() only variables have a gradient");
  return zeroed_gradient(var);
}

template <class T>
Matrix<T> Tape<T>::zeroed_gradient(Var var) {
  EMPLACE_CHECK(wants_gradient(var), "the gradient of a value that depends on no value with a gradient");
  const Node& part = at(var);
  Node& owner = nodes_[part.owner.is_none() ? var.id : part.owner.id];
  if (owner.gradient == nullptr) {
    const Matrix<T> zeros_matrix = gradient_memory(owner.value.rows, owner.value.columns);
    std::ranges::fill(zeros_matrix.all(), T{0});
    owner.gradient = zeros_matrix.data;
  }
  return {owner.gradient + part.offset, part.value.rows, part.value.columns};
}

template <class T>
void Tape<T>::backward() {
  EMPLACE_CHECK(!done_, "backward() twice in one step");
  done_ = true;
  for (std::size_t id = nodes_.size(); id-- > 0;) {
    Node& result = nodes_[id];
    if (result.op == nullptr || result.gradient == nullptr) continue;
    stop_point();
    inputs_.clear();
    d_inputs_.clear();
    fresh_.clear();
    for (const Var var : result.inputs) {
      inputs_.push_back(input(var));
      fresh_.push_back(result.op->overwrites(fresh_.size()) && take_fresh(var) ? 1 : 0);
      d_inputs_.push_back(d_input(var));
    }
    const Arena::Mark mark = arena_.mark();
    result.op->backward(*this, inputs_, result.value, {result.gradient, result.value.rows, result.value.columns},
                        d_inputs_);
    arena_.release(mark);
    spent_.emplace_back(result.gradient, result.value.size());  // all that read the value come after it on the tape
    result.gradient = nullptr;
  }
}

template class Tape<float>;
template class Tape<double>;

}  // namespace emplace::nn
