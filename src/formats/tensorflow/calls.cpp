#include "formats/tensorflow/calls.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

namespace {

constexpr std::size_t deepest_call = 64;
constexpr std::size_t most_nodes = std::size_t{1} << 21;

template <std::size_t N>
bool is_one_of(std::string_view op, const std::array<std::string_view, N>& list) {
  return std::ranges::find(list, op) != list.end();
}

constexpr std::array<std::string_view, 2> calls = {"PartitionedCall", "StatefulPartitionedCall"};
constexpr std::array<std::string_view, 2> ifs = {"If", "StatelessIf"};
constexpr std::array<std::string_view, 2> whiles = {"While", "StatelessWhile"};
constexpr std::array<std::string_view, 6> refused = {"Case",       "StatelessCase",      "For",
                                                     "RemoteCall", "TPUPartitionedCall", "SymbolicGradient"};

std::vector<std::string> data_inputs(const TfNode& node) {
  std::vector<std::string> inputs;
  for (const std::string& input : node.inputs)
    if (!input.starts_with('^')) inputs.push_back(input);
  return inputs;
}

std::vector<std::string> controls_of(const TfNode& node) {
  std::vector<std::string> controls;
  for (const std::string& input : node.inputs)
    if (input.starts_with('^')) controls.push_back(input);
  return controls;
}

// "node:1" -> "^node"
std::string waiting_for(std::string_view input) { return fmt::format("^{}", input.substr(0, input.find(':'))); }

// What the names inside a function mean in the graph: arguments are the caller's inputs, nodes get the prefix.
class InlinedNames {
 public:
  InlinedNames(const std::string& where, const TfFunction& function, std::span<const std::string> inputs,
               const std::string& prefix)
      : where_(where), prefix_(prefix) {
    for (std::size_t i = 0; i < inputs.size(); ++i) arguments_.emplace(function.inputs[i], inputs[i]);
    for (const TfNode& node : function.nodes) ops_.emplace(node.name, node.op);
  }

  [[nodiscard]] std::string of_node(std::string_view name) const { return fmt::format("{}/{}", prefix_, name); }

  [[nodiscard]] bool is_argument(std::string_view input) const {
    return arguments_.contains(input.substr(0, input.find(':')));
  }

  // "^node" -> "^prefix/node", "argument" -> the caller's input, "node:output:1" -> "prefix/node:1".
  [[nodiscard]] std::string of_input(std::string_view text) const {
    if (text.starts_with('^')) return "^" + of_node(text.substr(1));
    const std::size_t colon = text.find(':');
    const std::string_view base = text.substr(0, colon);
    if (const auto argument = arguments_.find(base); argument != arguments_.end()) return argument->second;
    const auto op = ops_.find(base);
    if (op == ops_.end()) throw InputError(where_, "{} is no node and no argument of the function", quote(text));
    if (colon == std::string_view::npos) return of_node(base);
    // "output:position", or the position among all outputs.
    const std::string_view output = text.substr(colon + 1);
    const std::size_t second = output.find(':');
    std::int64_t position = 0;
    if (!parse_number(second == std::string_view::npos ? output : output.substr(second + 1), position) || position < 0)
      throw InputError(where_, "{} names no output of a node", quote(text));
    const auto found = second == std::string_view::npos
                           ? position
                           : output_place(op->second, output.substr(0, second), position).value_or(-1);
    if (found < 0 || found >= OpId::none_value)
      throw InputError(where_, "{}: the op {} has no such output", quote(text), quote(op->second));
    return fmt::format("{}:{}", of_node(base), found);
  }

 private:
  const std::string& where_;
  const std::string& prefix_;
  std::unordered_map<std::string_view, std::string_view> ops_;
  std::unordered_map<std::string_view, std::string> arguments_;
};

}  // namespace

std::string TfCalls::place(const TfNode& node) const { return fmt::format("{}: node {}", file_, quote(node.name)); }

void TfCalls::add(TfNode node) {
  if (++nodes_ > most_nodes) throw InputError(file_, "with its functions the graph has more than {} nodes", most_nodes);
  if (is_one_of(node.op, refused))
    throw InputError(place(node),
                     "is of the type {}, which calls functions in a way that is not read; freeze the model first",
                     quote(node.op));
  if (is_one_of(node.op, ifs)) return add_if(node);
  if (is_one_of(node.op, whiles)) return add_while(node);
  const TfFunction* own = library_.find(node.op);  // the op is itself the name of a function
  if (own == nullptr && !is_one_of(node.op, calls)) return graph_.add(std::move(node));
  const Caller caller{node, data_inputs(node), controls_of(node)};
  TfCall results = put_in(own != nullptr ? *own : function_of(node, "f"), caller, node.name);
  graph_.add_call(std::move(node.name), std::move(results));
}

const TfFunction& TfCalls::function_of(const TfNode& node, std::string_view attribute) const {
  const TfValue* value = node.find(attribute);
  if (value == nullptr || value->kind != TfValue::Kind::function)
    throw InputError(place(node), "has no function {}", quote(attribute));
  const TfFunction* function = library_.find(value->text);
  if (function == nullptr)
    throw InputError(place(node), "calls the function {}, which the library of the file does not have",
                     quote(value->text));
  return *function;
}

TfCall TfCalls::put_in(const TfFunction& function, const Caller& caller, const std::string& prefix) {
  const std::string where = fmt::format("{}: function {}", place(caller.node), quote(function.name));
  if (function.has_lists) throw InputError(where, "has an argument or result that is a list, which is not read");
  if (caller.inputs.size() != function.inputs.size())
    throw InputError(where, "is called with {} inputs, it has {}", caller.inputs.size(), function.inputs.size());
  if (std::ranges::find(open_, &function) != open_.end()) throw InputError(where, "calls itself");
  if (open_.size() == deepest_call) throw InputError(where, "is nested deeper than {} calls", deepest_call);
  open_.push_back(&function);
  const InlinedNames names(where, function, caller.inputs, prefix);
  for (const TfNode& inner : function.nodes) {
    TfNode node = inner;
    if (node.name.empty()) throw InputError(where, "has a node without a name");
    node.name = names.of_node(inner.name);
    if (node.device.empty()) node.device = caller.node.device;
    bool starts = inner.op != "Const";
    for (std::string& input : node.inputs) {
      starts = starts && names.is_argument(input);
      input = names.of_input(input);
    }
    // What the caller waits for, its function's first nodes wait for.
    if (starts) node.inputs.insert(node.inputs.end(), caller.controls.begin(), caller.controls.end());
    for (auto& [name, value] : node.attributes)
      if (name == "_class")
        for (std::string& group : value.texts)
          if (group.starts_with("loc:@")) group = "loc:@" + names.of_node(group.substr(5));
    add(std::move(node));
  }
  open_.pop_back();
  TfCall results;
  for (const std::string& output : function.outputs) {
    const auto found = std::ranges::find(function.results, output, &std::pair<std::string, std::string>::first);
    if (found == function.results.end()) throw InputError(where, "does not say what its result {} is", quote(output));
    results.outputs.push_back(names.of_input(found->second));
  }
  for (const std::string& node : function.waits) results.waits.push_back(names.of_input("^" + node));
  return results;
}

void TfCalls::add_if(const TfNode& node) {
  Caller caller{node, data_inputs(node), controls_of(node)};
  if (caller.inputs.empty()) throw InputError(place(node), "has no condition");
  const std::string condition = waiting_for(caller.inputs.front());
  caller.inputs.erase(caller.inputs.begin());
  caller.controls.push_back(condition);
  TfCall chosen = put_in(function_of(node, "then_branch"), caller, node.name + "/then");
  TfCall otherwise = put_in(function_of(node, "else_branch"), caller, node.name + "/else");
  if (chosen.outputs.size() != otherwise.outputs.size())
    throw InputError(place(node), "its branches have {} and {} results", chosen.outputs.size(),
                     otherwise.outputs.size());
  TfCall results{{}, std::move(chosen.waits)};
  results.waits.insert(results.waits.end(), otherwise.waits.begin(), otherwise.waits.end());
  for (std::size_t k = 0; k < chosen.outputs.size(); ++k) {
    TfNode merge;
    merge.name = fmt::format("{}/merge/{}", node.name, k);
    merge.op = "Merge";
    merge.device = node.device;
    merge.inputs = {chosen.outputs[k], otherwise.outputs[k]};
    if (const TfValue* types = node.find("Tout"); types != nullptr && k < types->types.size()) {
      TfValue type;
      type.kind = TfValue::Kind::type;
      type.type = types->types[k];
      merge.attributes.emplace_back("T", std::move(type));
    }
    if (const TfValue* stated = node.find("_output_shapes"); stated != nullptr && k < stated->shapes.size()) {
      TfValue shapes;
      shapes.kind = TfValue::Kind::list;
      shapes.shapes = {stated->shapes[k], Shape::scalar()};
      merge.attributes.emplace_back("_output_shapes", std::move(shapes));
    }
    results.outputs.push_back(merge.name);
    add(std::move(merge));
  }
  graph_.add_call(node.name, std::move(results));
}

void TfCalls::add_while(const TfNode& node) {
  ++loops_;
  Caller caller{node, data_inputs(node), controls_of(node)};
  const TfCall condition = put_in(function_of(node, "cond"), caller, node.name + "/cond");
  for (const std::string& output : condition.outputs) caller.controls.push_back(waiting_for(output));
  TfCall results = put_in(function_of(node, "body"), caller, node.name + "/body");
  graph_.add_call(node.name, std::move(results));
}

void TfCalls::warn() const {
  if (loops_ > 0) log_warning("{}: {} loops (While) are costed as one iteration", file_, loops_);
}

}  // namespace emplace::formats
