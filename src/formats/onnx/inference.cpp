#include "formats/onnx/inference.hpp"

#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/subgraphs.hpp"

namespace emplace::formats {

namespace {
constexpr int most_dimensions = 64;
constexpr int most_propagated_values = 4096;  // no shape is longer
constexpr int most_nested = 32;
constexpr std::size_t most_inner_nodes = 300'000;
}  // namespace

std::string describe(const onnx::NodeProto& node) {
  return fmt::format("{} ({})", quote(node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name()),
                     node.op_type());
}

OnnxInference::OnnxInference(const onnx::ModelProto& model, const std::string& file, std::size_t tensors)
    : file_(file) {
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

void OnnxInference::fail(const onnx::NodeProto& node, const char* why) {
  if (failure_count_++ > 0) return;
  std::string line = why;
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  if (line.size() > 200) line = line.substr(0, 200) + "...";
  first_failure_ = fmt::format("{}: {}", describe(node), line);
}

std::string OnnxInference::failures() const {
  if (failure_count_ == 0) return {};
  const int known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
  const auto opset = main.opsets.find("");
  const bool is_newer = opset != main.opsets.end() && opset->second > known;
  return fmt::format("{} node{}{}; the first is {}", failure_count_, failure_count_ == 1 ? "" : "s",
                     is_newer ? fmt::format(" (opset {}, inference supports up to {})", opset->second, known) : "",
                     first_failure_);
}

// Infers the sub-graphs of an If, Loop or Scan.
class OnnxInference::Subgraph final : public onnx::GraphInferencer {
 public:
  Subgraph(OnnxInference& inference, onnx::GraphProto& graph, const OnnxScope& outer, int depth)
      : inference_(inference), graph_(graph), outer_(outer), depth_(depth) {}

  std::vector<const onnx::TypeProto*> doInferencing(const std::vector<const onnx::TypeProto*>& input_types,
                                                    const std::vector<const onnx::TensorProto*>& input_data) override {
    inference_.check_depth(depth_);
    if (static_cast<std::size_t>(graph_.input_size()) != input_types.size())
      throw onnx::InferenceError(
          fmt::format("a sub-graph has {} inputs, its node gives {}", graph_.input_size(), input_types.size()));
    OnnxScope& scope = scopes_.emplace_back();
    scope.opsets = outer_.opsets;
    for (const std::string& name : names_from_outside(graph_)) copy_from_outside(scope, name);
    inference_.symbols_.addFromGraph(graph_);
    scope.add_types(graph_.input());
    scope.add_types(graph_.value_info());
    scope.add_types(graph_.output());
    scope.add_initializers(graph_);
    for (int i = 0; i < graph_.input_size(); ++i) {
      const auto position = static_cast<std::size_t>(i);
      const std::string& name = graph_.input(i).name();
      if (input_types[position] != nullptr) {
        onnx::TypeProto& type = scope.type(name);
        if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) {
          type = *input_types[position];
        } else {
          onnx::shape_inference::checkShapesAndTypes(*input_types[position], type);
          onnx::shape_inference::mergeShapesAndTypes(*input_types[position], &type);
        }
      }
      if (position < input_data.size() && input_data[position] != nullptr) scope.data[name] = input_data[position];
    }
    for (onnx::NodeProto& node : *graph_.mutable_node()) {
      inference_.count_inner_node();
      inference_.infer(node, scope, depth_);
    }
    std::vector<const onnx::TypeProto*> outputs;
    for (const auto& output : graph_.output()) outputs.push_back(&scope.type(output.name()));
    return outputs;
  }

 private:
  void copy_from_outside(OnnxScope& scope, const std::string& name) const {
    const auto copy = [&name](const auto& from, auto& to) {
      if (const auto found = from.find(name); found != from.end()) to.insert(*found);
    };
    copy(outer_.types, scope.types);
    copy(outer_.data, scope.data);
    copy(outer_.sparse_data, scope.sparse_data);
    copy(outer_.values, scope.values);
  }

  OnnxInference& inference_;
  onnx::GraphProto& graph_;
  const OnnxScope& outer_;
  int depth_;
  std::deque<OnnxScope> scopes_;  // one for each call, because the caller keeps pointers to the types
};

class OnnxInference::Context final : public onnx::shape_inference::InferenceContextImpl {
 public:
  Context(OnnxInference& inference, onnx::NodeProto& node, const OnnxScope& scope, int depth,
          std::unordered_map<std::string, onnx::TensorShapeProto>& values)
      : InferenceContextImpl(node, scope.types, scope.data, scope.sparse_data, &values),
        inference_(inference),
        scope_(scope),
        depth_(depth) {}

  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    auto& subgraph = subgraphs_[name];
    if (subgraph == nullptr) {
      const auto found = graphProtoAttributesByName_.find(name);
      if (found == graphProtoAttributesByName_.end())
        throw onnx::InferenceError(fmt::format("the attribute {} holds no graph", name));
      subgraph = std::make_unique<Subgraph>(inference_, *found->second, scope_, depth_ + 1);
    }
    return subgraph.get();
  }

 private:
  OnnxInference& inference_;
  const OnnxScope& scope_;
  int depth_;
  std::unordered_map<std::string, std::unique_ptr<Subgraph>> subgraphs_;
};

void OnnxInference::infer(onnx::NodeProto& node, OnnxScope& scope, int depth) {
  scope.add_constant(node);
  const std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
  const auto opset = scope.opsets.find(domain);
  const onnx::OpSchema* schema =
      opset == scope.opsets.end() ? nullptr : onnx::OpSchemaRegistry::Schema(node.op_type(), opset->second, domain);
  const auto function = functions_.find(domain + ":" + node.op_type());
  if (schema == nullptr && function == functions_.end()) return;  // an unknown type, which the op table reports
  Context context(*this, node, scope, depth, scope.values);
  check_rank(node, context);
  try {
    if (schema == nullptr) {
      infer_function(*function->second, node, context, scope, depth + 1);
    } else {
      // libonnx's functions read inputs and attributes without checking that they exist.
      schema->Verify(node);
      if (schema->has_type_and_shape_inference_function())
        schema->GetTypeAndShapeInferenceFunction()(context);
      else if (schema->HasFunction())
        onnx::shape_inference::InferShapeForFunctionNode(*schema->GetFunction(), onnx::OpSchemaRegistry::Instance(),
                                                         context);
    }
  } catch (const InputError&) {
    throw;
  } catch (const onnx::InferenceError& error) {
    fail(node, error.what());  // types that were inferred before the error are kept, as in libonnx
  } catch (const std::exception& error) {
    fail(node, error.what());
    return;
  }
  update_types(node, context, scope);
  if (schema != nullptr && schema->has_data_propagation_function()) propagate(node, *schema, scope);
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
      fail(node, error.what());  // the stored shape stays
    }
  }
}

void OnnxInference::propagate(onnx::NodeProto& node, const onnx::OpSchema& schema, OnnxScope& scope) {
  int values = 0;
  for (const std::string& input : node.input()) {
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
  for (const auto& dimension : shape.dim())
    if (dimension.has_dim_value() && dimension.dim_value() < 0)
      throw InputError(file_, "node {}: its output {} would have a dimension of negative size {}", describe(node),
                       quote(tensor), dimension.dim_value());
}

}  // namespace emplace::formats
