// The inputs of a program: which are weights, and the sizes of the others.
#include <algorithm>
#include <set>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/fix_inputs.hpp"
#include "formats/pytorch/graph.hpp"

namespace emplace::formats {

using json::Place;
using json::Value;

namespace {

// A size of an input: the symbol it is, if the program leaves it open.
std::optional<std::string> symbol_of_size(Value size, const Place& place) {
  const auto expression = find_member(size, place, "as_expr");
  if (!expression) return std::nullopt;
  const Place at(place, "as_expr");
  return symbol_of(need_member(*expression, at, "expr_str").text(Place(at, "expr_str")));
}

// The size that the example had with which the program was made; "?" if the file does not say.
std::string example_size(Value size, const Place& place) {
  const auto whole = find_member(size, place, "as_int");
  if (whole) return std::to_string(whole->whole(Place(place, "as_int"), 0, total_limit));
  const auto expression = find_member(size, place, "as_expr");
  const Place at(place, "as_expr"), hint_place(at, "hint");
  const auto hint = expression ? find_member(*expression, at, "hint") : std::nullopt;
  const auto number = hint ? find_member(*hint, hint_place, "as_int") : std::nullopt;
  return number ? std::to_string(number->whole(Place(hint_place, "as_int"), 0, total_limit)) : "?";
}

}  // namespace

// [{"parameter": {"arg": {"name": "p_weight"}, "parameter_name": "0.weight"}}, {"user_input": {"arg": ...}}, ...]
void GraphFromProgram::read_signature(Value signature, const Place& place, Scope& scope) {
  const Place list(place, "input_specs");
  need_member(signature, place, "input_specs").each_element(list, [&](std::size_t i, Value spec) {
    const Place at(list, i);
    spec.each_member(at, [&](std::string_view kind, Value content) {
      const Place here(at, kind), argument(here, "arg");
      const std::string_view key = kind == "parameter"         ? "parameter_name"
                                   : kind == "buffer"          ? "buffer_name"
                                   : kind == "tensor_constant" ? "tensor_constant_name"
                                                               : "";
      if (kind == "user_input")
        for (const std::string_view name : read_argument(need_member(content, here, "arg"), argument).tensors)
          inputs_.push_back(name);
      if (key.empty()) return;
      const std::string_view name =
          need_member(need_member(content, here, "arg"), argument, "name").text(Place(argument, "name"));
      scope.weights.emplace(name, Weight{need_member(content, here, key).text(Place(here, key)), kind == "parameter"});
    });
  });
}

void GraphFromProgram::bind_symbol(const std::string& symbol, std::int64_t size, const std::string& input) {
  const auto [known, is_new] = symbols_.emplace(symbol, size);
  if (!is_new && known->second != size)
    throw InputError(file_, "the sizes given for input {} contradict those of another input: {} is {} and {}",
                     quote(input), symbol, known->second, size);
}

// --shape and --batch give symbols their values; all other sizes follow from these.
void GraphFromProgram::bind_symbols(const Scope& scope) {
  std::set<std::string, std::less<>> used;
  bool batch_used = false;
  std::vector<Shape> stated;  // before any symbol has a value
  for (const std::string_view input : inputs_) stated.push_back(tensor_of(input, file_, scope).shape);
  for (std::size_t position = 0; position < inputs_.size(); ++position) {
    const std::string_view input = inputs_[position];
    const auto value = scope.values.find(input);
    const Place file(file_), place(file, input), sizes(place, "sizes");
    const std::string name(input);
    const auto given = options_.shapes.find(name);
    Shape& shape = stated[position];
    if (given != options_.shapes.end()) {
      fix_shape(shape, given->second, name, file_);
      used.insert(name);
    }
    const bool takes_batch = options_.batch && fix_batch(shape, *options_.batch, file_);
    batch_used = batch_used || takes_batch;
    need_member(value->second, place, "sizes").each_element(sizes, [&](std::size_t i, Value size) {
      const auto symbol = symbol_of_size(size, Place(sizes, i));
      if (symbol && shape.dims[i] >= 0) bind_symbol(*symbol, shape.dims[i], name);
    });
  }
  std::vector<std::string> names(inputs_.begin(), inputs_.end());
  for (const auto& [name, sizes] : options_.shapes)
    if (!used.contains(name))
      throw InputError(file_, "the model has no input {}{}", quote(name), known_inputs(name, names));
  if (options_.batch && !batch_used) warn_unused_batch(*options_.batch, file_);
}

// {"s0": {"min_val": 2, "max_val": 512}}. PyTorch writes a least value of 2 for every size that was neither 0 nor 1 in
// the example, and runs such programs with 1 too.
void GraphFromProgram::check_ranges() const {
  const Place place(file_), at(place, "range_constraints");
  const auto ranges = find_member(program_, place, "range_constraints");
  if (!ranges) return;
  ranges->each_member(at, [&](std::string_view symbol, Value range) {
    const auto known = symbols_.find(symbol);
    if (known == symbols_.end()) return;
    const Place here(at, symbol);
    const auto least = find_member(range, here, "min_val"), most = find_member(range, here, "max_val");
    const std::int64_t low = least ? least->whole(Place(here, "min_val"), -total_limit, total_limit) : 0;
    const std::int64_t high = most ? most->whole(Place(here, "max_val"), -total_limit, total_limit) : total_limit;
    if ((known->second < low && low > 2) || known->second > high)
      throw InputError(file_, "the program takes sizes from {} to {} for {}; {} is given", low,
                       most ? std::to_string(high) : "any", symbol, known->second);
  });
}

void GraphFromProgram::add_inputs(Scope& scope) {
  for (const std::string_view name : inputs_) {
    GraphTensor tensor = tensor_of(name, file_, scope);
    const auto given = options_.shapes.find(std::string(name));
    for (std::size_t i = 0; given != options_.shapes.end() && i < tensor.shape.dims.size(); ++i)
      if (tensor.shape.dims[i] >= 0 && tensor.shape.dims[i] != given->second[i])
        throw InputError(file_, "input {} must have the size {} in dimension {}, by its other sizes; {} is given",
                         quote(name), tensor.shape.dims[i], i, given->second[i]);
    check_input(tensor.shape, std::string(name), file_);
    scope.operands[name] = Operand::of(graph_.add_input(std::string(name), tensor.dtype, std::move(tensor.shape)));
  }
}

void GraphFromProgram::warn_open_inputs(const Scope& scope) const {
  for (const GraphTensor& tensor : graph_.tensors) {
    if (!tensor.producer.is_none() || tensor.shape.is_static()) continue;
    std::vector<std::string> example;
    const Place file(file_), place(file, tensor.name), sizes(place, "sizes");
    need_member(scope.values.at(tensor.name), place, "sizes").each_element(sizes, [&](std::size_t i, Value size) {
      example.push_back(example_size(size, Place(sizes, i)));
    });
    log_warning("{}: the sizes of input {} are open ({}); its example had {}: give --shape {}={}", file_,
                quote(tensor.name), tensor.shape.str(), join(example, "x"), printable(tensor.name), join(example, "x"));
  }
}

}  // namespace emplace::formats
