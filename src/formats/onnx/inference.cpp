#include "formats/onnx/inference.hpp"

#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/inference_context.hpp"
#include "formats/onnx/newer_ops.hpp"
#include "formats/onnx/size_checks.hpp"
#include "formats/onnx/subgraphs.hpp"
#include "formats/onnx/types.hpp"
#include "formats/onnx/upper_bounds.hpp"

namespace emplace::formats {

namespace {
constexpr int most_dimensions = 64;
constexpr int most_propagated_values = 4096;  // no shape is longer
constexpr int most_nested = 32;
constexpr std::size_t most_inner_nodes = 300'000;

int newest_known_opset() { return onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second; }

// The version of the default domain if libonnx does not know it yet, else 0.
int newer_opset(const OnnxOpsets& opsets) {
  const auto opset = opsets.find("");
  return opset != opsets.end() && opset->second > newest_known_opset() ? opset->second : 0;
}
}  // namespace

std::string describe(const onnx::NodeProto& node) {
  return fmt::format("{} ({})", quote(node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name()),
                     node.op_type());
}

OnnxInference::OnnxInference(const onnx::ModelProto& model, const std::string& file, std::size_t tensors,
                             OnnxGivenSizes given)
    : file_(file), given_(std::move(given)) {
  main.types.reserve(tensors);
  main.opsets = opsets_of(model.opset_import());
  for (const auto& function : model.functions()) functions_[function.domain() + ":" + function.name()] = &function;
  symbols_.addFromGraph(model.graph());
  main.add_types(model.graph().input());
  main.add_types(model.graph().value_info());
  main.add_types(model.graph().output());
  main.add_initializers(model.graph());
}

void OnnxInference::count_inner_node() {
  if (++inner_nodes_ > most_inner_nodes)
    throw InputError(file_, "its sub-graphs and functions expand to more than {} nodes", most_inner_nodes);
}

void OnnxInference::check_depth(int depth) const {
  if (depth > most_nested)
    throw InputError(file_, "its sub-graphs and functions are nested deeper than {}", most_nested);
}

void OnnxInference::fail(const onnx::NodeProto& node, const char* why, bool contradicts) {
  if (doubts_.failures++ > 0) return;
  doubts_.first_contradicts = contradicts;
  std::string line = why;
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  if (line.size() > 200) line = line.substr(0, 200) + "...";
  doubts_.first_failure = fmt::format("{}: {}", describe(node), line);
}

void OnnxInference::Doubts::add(const Doubts& others) {
  if (failures == 0) {
    first_failure = others.first_failure;
    first_contradicts = others.first_contradicts;
  }
  failures += others.failures;
  unknown_trips += others.unknown_trips;
}

std::string OnnxInference::failures() const {
  if (doubts_.failures == 0) return {};
  const int newer = newer_opset(main.opsets);
  return fmt::format(
      "{} node{}{}; the first is {}", doubts_.failures, doubts_.failures == 1 ? "" : "s",
      newer > 0 ? fmt::format(" (opset {}, inference supports up to {})", newer, newest_known_opset()) : "",
      doubts_.first_failure);
}

std::string OnnxInference::one_branch() const {
  if (of_one_branch_.empty()) return {};
  return fmt::format("{} If node{}; the first is {}", of_one_branch_.size(), of_one_branch_.size() == 1 ? "" : "s",
                     first_of_one_branch_);
}

std::string OnnxInference::bounded() const {
  if (bounded_.empty()) return {};
  return fmt::format("{} op{}; the first is {}", bounded_.size(), bounded_.size() == 1 ? "" : "s", first_bounded_);
}

void OnnxInference::infer(onnx::NodeProto& node, OnnxScope& scope, int depth) {
  scope.add_constant(node);
  const std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
  const auto opset = scope.opsets.find(domain);
  const onnx::OpSchema* schema =
      opset == scope.opsets.end() ? nullptr : onnx::OpSchemaRegistry::Schema(node.op_type(), opset->second, domain);
  const auto function = functions_.find(domain + ":" + node.op_type());
  if (schema == nullptr && function == functions_.end()) {
    infer_newer_op(node, scope);
    return;  // other unknown types are reported by the op table
  }
  auto other = schema == nullptr ? std::nullopt : used_form(node, scope, depth);
  onnx::NodeProto& used = other ? scope.own_nodes.emplace_back(std::move(*other)) : node;
  if (depth == 0) check_operands(used, scope, folder_, file_);
  Context context(*this, used, scope, depth, scope.values);
  check_rank(used, context);
  try {
    if (schema == nullptr)
      infer_function(*function->second, used, context, scope, depth + 1);
    else
      infer_operator(*schema, used, context, scope);
  } catch (const InputError&) {
    throw;
  } catch (const onnx::InferenceError& error) {
    // Types that were inferred before the error are kept, as in libonnx.
    fail(node, error.what(), knows_shapes_read_by(node, scope));
  } catch (const std::exception& error) {
    fail(node, error.what());
    return;
  }
  update_types(used, context, scope);
  if (schema != nullptr && schema->has_data_propagation_function()) propagate(used, *schema, scope);
  complete_sizes(node, scope);
  folder_.fold(used, scope);
  if (given_.upper_bounds && bound_sizes(node, scope, folder_) && bounded_.insert(&node).second && bounded_.size() == 1)
    first_bounded_ = describe(node);
  if (depth == 0) check_result(node, scope, file_);
}

// Whether inference knows the op and the shapes of all that the node reads, so that an error about them is certain. It
// is not where the user replaced sizes: constants in branches may still have the exported ones.
bool OnnxInference::knows_shapes_read_by(const onnx::NodeProto& node, const OnnxScope& scope) const {
  if (given_.upper_bounds || !given_.replaced.empty() || has_subgraph(node) || newer_opset(scope.opsets) > 0)
    return false;
  return std::ranges::all_of(node.input(), [&](const std::string& input) {
    const auto type = scope.types.find(input);
    return input.empty() || (type != scope.types.end() && type->second->tensor_type().has_shape());
  });
}

void OnnxInference::infer_operator(const onnx::OpSchema& schema, onnx::NodeProto& node, Context& context,
                                   OnnxScope& scope) {
  // libonnx's functions read inputs and attributes without checking that they exist.
  schema.Verify(node);
  if (infer_control_flow(node, schema, context, scope)) return;
  if (schema.has_type_and_shape_inference_function())
    schema.GetTypeAndShapeInferenceFunction()(context);
  else if (schema.HasFunction())
    onnx::shape_inference::InferShapeForFunctionNode(*schema.GetFunction(), onnx::OpSchemaRegistry::Instance(),
                                                     context);
}

void OnnxInference::infer_function(const onnx::FunctionProto& function, onnx::NodeProto& node, Context& caller,
                                   const OnnxScope& scope, int depth) {
  check_depth(depth);
  OnnxScope inner;
  inner.opsets = function.opset_import_size() > 0 ? opsets_of(function.opset_import()) : scope.opsets;
  for (int i = 0; i < std::min(function.input_size(), node.input_size()); ++i) {
    const auto position = static_cast<std::size_t>(i);
    if (const auto* type = caller.getInputType(position)) inner.type(function.input(i)) = *type;
    if (const auto* data = caller.getInputData(position)) inner.data[function.input(i)] = data;
    if (const auto* values = caller.getSymbolicInput(position)) inner.values[function.input(i)] = *values;
    if (const auto folded = scope.folded.find(node.input(i)); folded != scope.folded.end())
      inner.folded[function.input(i)] = folded->second;
  }
  for (const onnx::NodeProto& original : function.node()) {
    count_inner_node();
    onnx::NodeProto& copy = inner.own_nodes.emplace_back(original);
    copy.clear_attribute();
    for (const auto& attribute : original.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *copy.add_attribute() = attribute;
      } else if (const auto* given = caller.getAttribute(attribute.ref_attr_name())) {
        onnx::AttributeProto& bound = *copy.add_attribute();
        bound = *given;
        bound.set_name(attribute.name());
      }
    }
    infer(copy, inner, depth);
  }
  for (int i = 0; i < std::min(function.output_size(), node.output_size()); ++i)
    if (const auto found = inner.types.find(function.output(i)); found != inner.types.end())
      *caller.getOutputType(static_cast<std::size_t>(i)) = *found->second;
}

void OnnxInference::update_types(onnx::NodeProto& node, Context& context, OnnxScope& scope) {
  for (int i = 0; i < node.output_size(); ++i) {
    onnx::TypeProto& inferred = *context.getOutputType(static_cast<std::size_t>(i));
    if (node.output(i).empty() || inferred.value_case() == onnx::TypeProto::VALUE_NOT_SET) continue;
    check_sizes(node, node.output(i), inferred);
    try {
      onnx::shape_inference::MaterializeSymbolicShape(&inferred, symbols_);
      onnx::TypeProto& known = scope.type(node.output(i));
      if (known.value_case() == onnx::TypeProto::VALUE_NOT_SET) {
        known = inferred;
        continue;
      }
      onnx::shape_inference::checkShapesAndTypes(inferred, known);
      onnx::shape_inference::mergeShapesAndTypes(inferred, &known);
    } catch (const std::exception& error) {
      // The stored shape stays, unless it may belong to sizes that the user has replaced.
      if (given_.any)
        scope.type(node.output(i)) = inferred;
      else
        fail(node, error.what());
    }
  }
}

void OnnxInference::propagate(onnx::NodeProto& node, const onnx::OpSchema& schema, OnnxScope& scope) {
  int values = 0;
  for (const std::string& input : node.input()) {
    // libonnx's functions look at the types of inputs without asking whether there are any; there is none if inference
    // failed on the input's producer.
    if (!input.empty() && !scope.types.contains(input)) return;
    const auto found = scope.values.find(input);
    if (found != scope.values.end()) values += found->second.dim_size();
    if (values > most_propagated_values) return;
  }
  try {
    onnx::shape_inference::DataPropagationContextImpl context(node, scope.types, scope.data, scope.values);
    schema.GetDataPropagationFunction()(context);
  } catch (const std::exception&) {
    return;  // the values stay unknown
  }
  for (const std::string& output : node.output())
    if (const auto found = scope.values.find(output);
        found != scope.values.end() && found->second.dim_size() > most_propagated_values)
      scope.values.erase(found);
}

// For these types libonnx adds dimensions to the output one by one, as many as their input of sizes has elements; a
// huge input would fill the memory.
void OnnxInference::check_rank(const onnx::NodeProto& node, const Context& context) const {
  const bool is_expand = node.op_type() == "Expand";
  if (!is_expand && node.op_type() != "ConstantOfShape") return;
  const std::size_t input = is_expand ? 1 : 0;
  const onnx::TypeProto* sizes = context.getNumInputs() > input ? context.getInputType(input) : nullptr;
  if (sizes == nullptr || sizes->tensor_type().shape().dim_size() != 1) return;
  const std::int64_t rank = sizes->tensor_type().shape().dim(0).dim_value();
  if (rank > most_dimensions)
    throw InputError(file_, "node {}: its output would have {} dimensions", describe(node), rank);
}

void OnnxInference::check_sizes(const onnx::NodeProto& node, const std::string& tensor,
                                const onnx::TypeProto& type) const {
  const onnx::TensorShapeProto& shape =
      type.has_sparse_tensor_type() ? type.sparse_tensor_type().shape() : type.tensor_type().shape();
  if (shape.dim_size() > most_dimensions)
    throw InputError(file_, "node {}: its output {} would have {} dimensions", describe(node), quote(tensor),
                     shape.dim_size());
  // libonnx multiplies sizes without checks, so that a product above 2^63 is a negative size.
  const auto is_huge = [&](const std::string& input) {
    const Shape read = shape_known(main, input);
    return read.is_static() && !read.elements();
  };
  for (const auto& dimension : shape.dim()) {
    if (!dimension.has_dim_value() || dimension.dim_value() >= 0) continue;
    if (std::ranges::any_of(node.input(), is_huge))
      throw InputError(file_, "node {}: its output {} would have more than 2^62 elements", describe(node),
                       quote(tensor));
    throw InputError(file_, "node {}: its output {} would have a dimension of negative size {}", describe(node),
                     quote(tensor), dimension.dim_value());
  }
}

}  // namespace emplace::formats
