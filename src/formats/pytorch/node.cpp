#include "formats/pytorch/node.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

namespace {

using json::Place;
using json::Value;

constexpr std::size_t longest_argument = 1024;
constexpr std::size_t most_numbers = 4096;

std::int64_t any_whole(Value value, const Place& place) {
  return value.whole(place, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

// {"name": "x"}
std::string_view name_in(Value value, const Place& place) {
  return need_member(value, place, "name").text(Place(place, "name"));
}

// {"as_tensor": {"name": "x"}}, or {"as_none": true}
std::string_view optional_name(Value value, const Place& place) {
  const auto tensor = find_member(value, place, "as_tensor");
  return tensor ? name_in(*tensor, Place(place, "as_tensor")) : std::string_view();
}

void read_list(std::string_view kind, Value list, const Place& place, ProgramArgument& argument) {
  argument.is_list = true;
  list.each_element(place, [&](std::size_t i, Value element) {
    const Place at(place, i);
    if (kind == "as_nested_tensors")
      element.each_element(
          at, [&](std::size_t j, Value inner) { argument.tensors.push_back(name_in(inner, Place(at, j))); });
    else
      argument.tensors.push_back(kind == "as_tensors" ? name_in(element, at) : optional_name(element, at));
  });
}

// Whole numbers, of which some may be symbols: then there is no attribute.
std::optional<Attribute> numbers_of(Value list, const Place& place) {
  std::vector<std::int64_t> numbers;
  bool known = true;
  list.each_element(place, [&](std::size_t i, Value element) {
    const Place at(place, i);
    if (i >= most_numbers) return;
    if (element.kind() == json::Kind::whole) {
      numbers.push_back(any_whole(element, at));
    } else if (const auto number = find_member(element, at, "as_int")) {
      numbers.push_back(any_whole(*number, Place(at, "as_int")));
    } else {
      known = false;
    }
  });
  return known ? std::optional<Attribute>(std::move(numbers)) : std::nullopt;
}

// The last of "key,path,type;key,path,type"; paths of the oldest programs begin with L['self'].
std::string_view module_in_stack(std::string_view stack) {
  std::string_view entry = stack.substr(stack.rfind(';') + 1);
  const std::size_t type = entry.rfind(',');
  if (type == std::string_view::npos) return {};
  entry = entry.substr(0, type);
  const std::size_t key = entry.rfind(',');
  return key == std::string_view::npos ? std::string_view() : entry.substr(key + 1);
}

}  // namespace

ProgramArgument read_argument(Value value, const Place& place) {
  ProgramArgument argument;
  value.each_member(place, [&](std::string_view kind, Value content) {
    const Place at(place, kind);
    if (kind == "as_tensor") argument.tensors.push_back(name_in(content, at));
    if (kind == "as_optional_tensor") {
      if (const auto name = optional_name(content, at); !name.empty()) argument.tensors.push_back(name);
    }
    if (kind == "as_tensors" || kind == "as_optional_tensors" || kind == "as_nested_tensors")
      read_list(kind, content, at, argument);
    if (kind == "as_int") argument.attribute = any_whole(content, at);
    if (kind == "as_bool") argument.attribute = std::int64_t{content.boolean(at) ? 1 : 0};
    if (kind == "as_float" && (content.kind() == json::Kind::real || content.kind() == json::Kind::whole))
      argument.attribute = content.number(at);
    if (kind == "as_string" && content.text(at).size() <= longest_argument)
      argument.attribute = std::string(content.text(at));
    if (kind == "as_sym_int")
      if (const auto number = find_member(content, at, "as_int"))
        argument.attribute = any_whole(*number, Place(at, "as_int"));
    if (kind == "as_ints" || kind == "as_sym_ints") argument.attribute = numbers_of(content, at);
    if (kind == "as_graph") argument.graph = need_member(content, at, "graph");
  });
  return argument;
}

ProgramNode read_program_node(Value value, const Place& place) {
  ProgramNode node;
  value.each_member(place, [&](std::string_view key, Value member) {
    const Place at(place, key);
    if (key == "target") node.target = member.text(at);
    if (key == "name" && !member.is_null()) node.name = member.text(at);
    if (key == "inputs")
      member.each_element(at, [&](std::size_t i, Value input) {
        const Place here(at, i);
        ProgramArgument argument = read_argument(need_member(input, here, "arg"), Place(here, "arg"));
        if (const auto name = find_member(input, here, "name")) argument.name = name->text(Place(here, "name"));
        node.arguments.push_back(std::move(argument));
      });
    if (key == "outputs") node.outputs = read_tensor_names(member, at);
    if (key == "metadata")
      if (const auto stack = find_member(member, at, "nn_module_stack"))
        node.module = module_in_stack(stack->text(Place(at, "nn_module_stack")));
  });
  if (node.target.empty()) throw InputError(place.str(), "has no 'target'");
  if (node.name.empty() && !node.outputs.empty()) node.name = node.outputs.front();
  return node;
}

std::vector<std::string_view> read_tensor_names(Value list, const Place& place) {
  std::vector<std::string_view> names;
  list.each_element(place, [&](std::size_t i, Value element) {
    const ProgramArgument argument = read_argument(element, Place(place, i));
    for (const std::string_view name : argument.tensors)
      if (!name.empty()) names.push_back(name);
  });
  return names;
}

DType dtype_of_program(std::int64_t number) {
  switch (number) {
    case 1: return DType::u8;
    case 2: return DType::i8;
    case 3: return DType::i16;
    case 4: return DType::i32;
    case 5: return DType::i64;
    case 6: return DType::f16;
    case 7: return DType::f32;
    case 8: return DType::f64;
    case 9: return DType::f32;  // complex of two f16: as large
    case 10: return DType::c64;
    case 11: return DType::c128;
    case 12: return DType::boolean;
    case 13: return DType::bf16;
    case 28: return DType::u16;
    case 29:  // the forms of 8-bit floating-point numbers
    case 30:
    case 31:
    case 32:
    case 33: return DType::u8;
    case 34: return DType::u32;
    case 35: return DType::u64;
    default: return DType::unknown;
  }
}

}  // namespace emplace::formats
