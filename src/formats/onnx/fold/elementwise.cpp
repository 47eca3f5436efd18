// Rules of ops that compute each element from the elements at the same position: arithmetic, comparison, logic.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "formats/onnx/fold/call.hpp"

namespace emplace::formats {

namespace {

constexpr std::int64_t smallest_whole = std::numeric_limits<std::int64_t>::min();

template <class Number>
bool is_within(std::int64_t value) {
  return value >= static_cast<std::int64_t>(std::numeric_limits<Number>::min()) &&
         value <= static_cast<std::int64_t>(std::numeric_limits<Number>::max());
}

bool fits_type(std::int32_t type, std::int64_t value) {
  switch (type) {
    case onnx::TensorProto::BOOL: return value == 0 || value == 1;
    case onnx::TensorProto::UINT8: return is_within<std::uint8_t>(value);
    case onnx::TensorProto::INT8: return is_within<std::int8_t>(value);
    case onnx::TensorProto::UINT16: return is_within<std::uint16_t>(value);
    case onnx::TensorProto::INT16: return is_within<std::int16_t>(value);
    case onnx::TensorProto::UINT32: return is_within<std::uint32_t>(value);
    case onnx::TensorProto::INT32: return is_within<std::int32_t>(value);
    default: return true;
  }
}

// The element as the type stores it. A whole number that the type cannot hold becomes unknown.
FoldedElement stored(std::int32_t type, FoldedElement element) {
  if (!element.known) return {};
  if (type == onnx::TensorProto::FLOAT) element.real = static_cast<double>(static_cast<float>(element.real));
  return is_real_type(type) || fits_type(type, element.whole) ? element : FoldedElement{};
}

// Functions of known elements; `real` says which member counts.
using Unary = FoldedElement (*)(bool real, const FoldedElement& a);
using Binary = FoldedElement (*)(bool real, const FoldedElement& a, const FoldedElement& b);

FoldedElement add(bool real, const FoldedElement& a, const FoldedElement& b) {
  std::int64_t sum = 0;
  if (real) return FoldedElement::of_real(a.real + b.real);
  return __builtin_add_overflow(a.whole, b.whole, &sum) ? FoldedElement{} : FoldedElement::of_whole(sum);
}
FoldedElement subtract(bool real, const FoldedElement& a, const FoldedElement& b) {
  std::int64_t difference = 0;
  if (real) return FoldedElement::of_real(a.real - b.real);
  return __builtin_sub_overflow(a.whole, b.whole, &difference) ? FoldedElement{} : FoldedElement::of_whole(difference);
}
FoldedElement multiply(bool real, const FoldedElement& a, const FoldedElement& b) {
  std::int64_t product = 0;
  if (real) return FoldedElement::of_real(a.real * b.real);
  return __builtin_mul_overflow(a.whole, b.whole, &product) ? FoldedElement{} : FoldedElement::of_whole(product);
}
bool divides(const FoldedElement& a, const FoldedElement& b) {
  return b.whole != 0 && !(a.whole == smallest_whole && b.whole == -1);
}
FoldedElement divide(bool real, const FoldedElement& a, const FoldedElement& b) {
  if (real) return FoldedElement::of_real(a.real / b.real);
  return divides(a, b) ? FoldedElement::of_whole(a.whole / b.whole) : FoldedElement{};
}
// The remainder with the divisor's sign, as in Python.
FoldedElement modulo(bool real, const FoldedElement& a, const FoldedElement& b) {
  if (real) return FoldedElement::of_real(std::fmod(a.real, b.real));
  if (!divides(a, b)) return {};
  const std::int64_t remainder = a.whole % b.whole;
  return FoldedElement::of_whole(remainder != 0 && (remainder < 0) != (b.whole < 0) ? remainder + b.whole : remainder);
}
// The remainder with the dividend's sign, as in C.
FoldedElement c_modulo(bool real, const FoldedElement& a, const FoldedElement& b) {
  if (real) return FoldedElement::of_real(std::fmod(a.real, b.real));
  return divides(a, b) ? FoldedElement::of_whole(a.whole % b.whole) : FoldedElement{};
}
FoldedElement power(bool real, const FoldedElement& a, const FoldedElement& b) {
  if (real) return FoldedElement::of_real(std::pow(a.real, b.real));
  const double result = std::pow(static_cast<double>(a.whole), static_cast<double>(b.whole));
  return std::abs(result) < 0x1p53 ? FoldedElement::of_whole(static_cast<std::int64_t>(result)) : FoldedElement{};
}
bool is_less(bool real, const FoldedElement& a, const FoldedElement& b) {
  return real ? a.real < b.real : a.whole < b.whole;
}
bool is_equal(bool real, const FoldedElement& a, const FoldedElement& b) {
  return real ? a.real == b.real : a.whole == b.whole;
}
FoldedElement smaller(bool real, const FoldedElement& a, const FoldedElement& b) { return is_less(real, b, a) ? b : a; }
FoldedElement larger(bool real, const FoldedElement& a, const FoldedElement& b) { return is_less(real, a, b) ? b : a; }
FoldedElement equal(bool real, const FoldedElement& a, const FoldedElement& b) {
  return FoldedElement::of_whole(is_equal(real, a, b));
}
FoldedElement less(bool real, const FoldedElement& a, const FoldedElement& b) {
  return FoldedElement::of_whole(is_less(real, a, b));
}
FoldedElement greater(bool real, const FoldedElement& a, const FoldedElement& b) {
  return FoldedElement::of_whole(is_less(real, b, a));
}
FoldedElement at_most(bool real, const FoldedElement& a, const FoldedElement& b) {
  return FoldedElement::of_whole(is_less(real, a, b) || is_equal(real, a, b));
}
FoldedElement at_least(bool real, const FoldedElement& a, const FoldedElement& b) {
  return FoldedElement::of_whole(is_less(real, b, a) || is_equal(real, a, b));
}
FoldedElement both(bool, const FoldedElement& a, const FoldedElement& b) {
  return FoldedElement::of_whole(a.whole != 0 && b.whole != 0);
}
FoldedElement either(bool, const FoldedElement& a, const FoldedElement& b) {
  return FoldedElement::of_whole(a.whole != 0 || b.whole != 0);
}
FoldedElement exactly_one(bool, const FoldedElement& a, const FoldedElement& b) {
  return FoldedElement::of_whole((a.whole != 0) != (b.whole != 0));
}

FoldedElement negated(bool real, const FoldedElement& a) { return subtract(real, {true, 0, 0}, a); }
FoldedElement magnitude(bool real, const FoldedElement& a) {
  if (real) return FoldedElement::of_real(std::abs(a.real));
  return a.whole < 0 ? negated(false, a) : a;
}
FoldedElement sign_of(bool real, const FoldedElement& a) {
  if (real) return FoldedElement::of_real(a.real > 0 ? 1 : a.real < 0 ? -1 : 0);
  return FoldedElement::of_whole(a.whole > 0 ? 1 : a.whole < 0 ? -1 : 0);
}
FoldedElement inverted(bool, const FoldedElement& a) { return FoldedElement::of_whole(a.whole == 0); }
FoldedElement reciprocal(bool real, const FoldedElement& a) {
  return real ? FoldedElement::of_real(1 / a.real) : FoldedElement{};
}
template <double (*function)(double)>
FoldedElement real_function(bool real, const FoldedElement& a) {
  return real ? FoldedElement::of_real(function(a.real)) : FoldedElement{};
}

FoldedTensor combine(const FoldedTensor& a, const FoldedTensor& b, std::int32_t type, Binary function,
                     const FoldedDims& dims) {
  const FoldedTensor left = broadcast_to(a, dims), right = broadcast_to(b, dims);
  FoldedTensor result{type, dims, std::vector<FoldedElement>(left.elements.size())};
  for (std::size_t i = 0; i < result.elements.size(); ++i)
    if (left.elements[i].known && right.elements[i].known)
      result.elements[i] = stored(type, function(a.is_real(), left.elements[i], right.elements[i]));
  return result;
}

// Combines all inputs, two at a time. `type`: of the result; none: that of the inputs.
FoldedOutputs combined_inputs(const FoldCall& call, Binary function, std::optional<std::int32_t> type = {}) {
  if (call.input_count() == 0 || call.input(0) == nullptr) return {};
  FoldedTensor result = *call.input(0);
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    const FoldedTensor* next = call.input(i);
    if (next == nullptr || next->is_real() != result.is_real()) return {};
    const auto dims = broadcast_dims(result.dims, next->dims);
    const auto count = dims ? folded_count(*dims) : std::nullopt;
    if (!count || !call.budget().spend_steps(3 * *count)) return {};
    result = combine(result, *next, type.value_or(result.type), function, *dims);
  }
  return {std::move(result)};
}

template <Binary function>
FoldedOutputs arithmetic(const FoldCall& call) {
  return combined_inputs(call, function);
}
template <Binary function>
FoldedOutputs comparison(const FoldCall& call) {
  return call.input_count() == 2 ? combined_inputs(call, function, onnx::TensorProto::BOOL) : FoldedOutputs{};
}
FoldedOutputs remainder_of(const FoldCall& call) {
  return combined_inputs(call, call.whole("fmod", 0) != 0 ? c_modulo : modulo);
}

FoldedOutputs mapped(const FoldCall& call, Unary function) {
  if (call.input(0) == nullptr || !call.budget().spend_steps(call.input(0)->elements.size())) return {};
  FoldedTensor result = *call.input(0);
  for (FoldedElement& element : result.elements)
    if (element.known) element = stored(result.type, function(result.is_real(), element));
  return {std::move(result)};
}

template <Unary function>
FoldedOutputs each_element(const FoldCall& call) {
  return mapped(call, function);
}

FoldedOutputs identity(const FoldCall& call) {
  if (call.input(0) == nullptr || !call.budget().spend_steps(call.input(0)->elements.size())) return {};
  return {*call.input(0)};
}

FoldedElement converted(const FoldedTensor& from, const FoldedElement& element, std::int32_t type) {
  if (!element.known) return {};
  const double real = from.is_real() ? element.real : static_cast<double>(element.whole);
  if (type == onnx::TensorProto::BOOL)
    return FoldedElement::of_whole(from.is_real() ? element.real != 0 : element.whole != 0);
  if (is_real_type(type)) return FoldedElement::of_real(real);
  if (!from.is_real()) return element;
  return std::abs(real) < 0x1p62 ? FoldedElement::of_whole(static_cast<std::int64_t>(real)) : FoldedElement{};
}

FoldedOutputs cast_to(const FoldCall& call, std::int64_t type) {
  const FoldedTensor* from = call.input(0);
  if (from == nullptr || type < 0 || type > 100 || !is_folded_type(static_cast<std::int32_t>(type)) ||
      !call.budget().spend_steps(from->elements.size()))
    return {};
  FoldedTensor result{static_cast<std::int32_t>(type), from->dims, {}};
  for (const FoldedElement& element : from->elements)
    result.elements.push_back(stored(result.type, converted(*from, element, result.type)));
  return {std::move(result)};
}

FoldedOutputs cast(const FoldCall& call) { return cast_to(call, call.whole("to", 0)); }
FoldedOutputs cast_like(const FoldCall& call) {
  return call.input(1) == nullptr ? FoldedOutputs{} : cast_to(call, call.input(1)->type);
}

FoldedElement chosen(const FoldedElement& condition, const FoldedTensor& type, const FoldedElement& a,
                     const FoldedElement& b) {
  if (condition.known) return condition.whole != 0 ? a : b;
  return a.known && b.known && is_equal(type.is_real(), a, b) ? a : FoldedElement{};
}

FoldedOutputs where(const FoldCall& call) {
  const FoldedTensor *condition = call.input(0), *a = call.input(1), *b = call.input(2);
  if (condition == nullptr || a == nullptr || b == nullptr || a->type != b->type) return {};
  const auto values = broadcast_dims(a->dims, b->dims);
  const auto dims = values ? broadcast_dims(*values, condition->dims) : std::nullopt;
  const auto count = dims ? folded_count(*dims) : std::nullopt;
  if (!count || !call.budget().spend_steps(4 * *count)) return {};
  const FoldedTensor conditions = broadcast_to(*condition, *dims), left = broadcast_to(*a, *dims),
                     right = broadcast_to(*b, *dims);
  FoldedTensor result{a->type, *dims, {}};
  for (std::size_t i = 0; i < *count; ++i)
    result.elements.push_back(chosen(conditions.elements[i], *a, left.elements[i], right.elements[i]));
  return {std::move(result)};
}

FoldedOutputs clip(const FoldCall& call) {
  FoldedOutputs result = identity(call);
  for (const std::size_t i : {1u, 2u}) {
    if (!call.has_input(i) || result.empty()) continue;
    const FoldedTensor* limit = call.input(i);
    if (limit == nullptr || limit->elements.size() != 1 || !limit->elements[0].known ||
        limit->is_real() != result[0].is_real())
      return {};
    for (FoldedElement& element : result[0].elements)
      if (element.known) element = (i == 1 ? larger : smaller)(limit->is_real(), element, limit->elements[0]);
  }
  return result;
}

}  // namespace

const FoldRules& elementwise_rules() {
  static const FoldRules rules = {{"Add", arithmetic<add>},
                                  {"Sub", arithmetic<subtract>},
                                  {"Mul", arithmetic<multiply>},
                                  {"Div", arithmetic<divide>},
                                  {"Mod", remainder_of},
                                  {"Pow", arithmetic<power>},
                                  {"Min", arithmetic<smaller>},
                                  {"Max", arithmetic<larger>},
                                  {"Sum", arithmetic<add>},
                                  {"And", comparison<both>},
                                  {"Or", comparison<either>},
                                  {"Xor", comparison<exactly_one>},
                                  {"Equal", comparison<equal>},
                                  {"Less", comparison<less>},
                                  {"Greater", comparison<greater>},
                                  {"LessOrEqual", comparison<at_most>},
                                  {"GreaterOrEqual", comparison<at_least>},
                                  {"Neg", each_element<negated>},
                                  {"Abs", each_element<magnitude>},
                                  {"Sign", each_element<sign_of>},
                                  {"Not", each_element<inverted>},
                                  {"Reciprocal", each_element<reciprocal>},
                                  {"Floor", each_element<real_function<std::floor>>},
                                  {"Ceil", each_element<real_function<std::ceil>>},
                                  {"Round", each_element<real_function<std::nearbyint>>},
                                  {"Sqrt", each_element<real_function<std::sqrt>>},
                                  {"Exp", each_element<real_function<std::exp>>},
                                  {"Log", each_element<real_function<std::log>>},
                                  {"Identity", identity},
                                  {"Cast", cast},
                                  {"CastLike", cast_like},
                                  {"Clip", clip},
                                  {"Where", where}};
  return rules;
}

}  // namespace emplace::formats
