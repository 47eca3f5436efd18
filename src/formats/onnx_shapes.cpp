#include "onnx_shapes.hpp"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"
#include "onnx_subgraphs.hpp"

namespace emplace {

namespace {

constexpr int most_dimensions = 64;
constexpr int most_propagated_values = 4096;  // no shape is longer
constexpr int most_nested = 32;
constexpr std::size_t most_inner_nodes = 1'000'000;

using Opsets = std::unordered_map<std::string, int>;

Opsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const auto& import : imports)
    opsets[import.domain() == "ai.onnx" ? "" : import.domain()] =
        static_cast<int>(std::clamp<std::int64_t>(import.version(), 0, 1'000'000));
  return opsets;
}

// What is known inside one graph. The maps are those that libonnx's contexts want; values are what data propagation
// found out about small vectors of whole numbers.
struct Scope {
  std::unordered_map<std::string, onnx::TypeProto*> types;
  std::unordered_map<std::string, const onnx::TensorProto*> data;
  std::unordered_map<std::string, const onnx::SparseTensorProto*> sparse_data;
  std::unordered_map<std::string, onnx::TensorShapeProto> values;
  std::deque<onnx::TypeProto> own_types;
  std::deque<onnx::TensorProto> own_data;
  std::deque<onnx::NodeProto> own_nodes;
  Opsets opsets;

  onnx::TypeProto& type(const std::string& name) {
    onnx::TypeProto*& type = types[name];
    if (type == nullptr) type = &own_types.emplace_back();
    return *type;
  }

  void add_values(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values_info) {
    for (const auto& value : values_info)
      if (value.has_type() && !value.name().empty() && !types.contains(value.name())) type(value.name()) = value.type();
  }

  void add_initializers(const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) {
      data[tensor.name()] = &tensor;
      if (types.contains(tensor.name())) continue;  // what an input of this name says comes first
      auto& tensor_type = *type(tensor.name()).mutable_tensor_type();
      tensor_type.set_elem_type(tensor.data_type());
      tensor_type.mutable_shape();
      for (const std::int64_t size : tensor.dims()) tensor_type.mutable_shape()->add_dim()->set_dim_value(size);
    }
    for (const auto& tensor : graph.sparse_initializer()) {
      const std::string& name = tensor.values().name();
      sparse_data[name] = &tensor;
      if (types.contains(name)) continue;
      auto& tensor_type = *type(name).mutable_sparse_tensor_type();
      tensor_type.set_elem_type(tensor.values().data_type());
      for (const std::int64_t size : tensor.dims()) tensor_type.mutable_shape()->add_dim()->set_dim_value(size);
    }
  }

  void add_constant(const onnx::NodeProto& node) {
    if (node.op_type() != "Constant" || !node.domain().empty() || node.output_size() != 1) return;
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "value" && attribute.has_t())
        data[node.output(0)] = &attribute.t();
      else if (attribute.name() == "sparse_value" && attribute.has_sparse_tensor())
        sparse_data[node.output(0)] = &attribute.sparse_tensor();
      else if (attribute.name() == "value_int" || attribute.name() == "value_ints") {
        onnx::TensorProto& tensor = own_data.emplace_back();
        tensor.set_data_type(onnx::TensorProto_DataType_INT64);
        if (attribute.name() == "value_int")
          tensor.add_int64_data(attribute.i());
        else
          *tensor.mutable_int64_data() = attribute.ints();
        if (attribute.name() == "value_ints") tensor.add_dims(attribute.ints_size());
        data[node.output(0)] = &tensor;
      } else if (attribute.name() == "value_float" || attribute.name() == "value_floats") {
        onnx::TensorProto& tensor = own_data.emplace_back();
        tensor.set_data_type(onnx::TensorProto_DataType_FLOAT);
        if (attribute.name() == "value_float")
          tensor.add_float_data(attribute.f());
        else
          *tensor.mutable_float_data() = attribute.floats();
        if (attribute.name() == "value_floats") tensor.add_dims(attribute.floats_size());
        data[node.output(0)] = &tensor;
      }
    }
  }
};

std::string describe(const onnx::NodeProto& node) {
  return fmt::format("{} ({})", quoted(node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name()),
                     node.op_type());
}

}  // namespace

class OnnxShapes::Inference {
 public:
  Inference(onnx::ModelProto& model, const std::string& file) : file_(file) {
    main.opsets = opsets_of(model.opset_import());
    for (const auto& function : model.functions()) functions_[function.domain() + ":" + function.name()] = &function;
    symbols_.addFromGraph(model.graph());
    main.add_values(model.graph().input());
    main.add_values(model.graph().value_info());
    main.add_values(model.graph().output());
    main.add_initializers(model.graph());
  }

  void infer(onnx::NodeProto& node, Scope& scope, int depth);

  Scope main;
  std::size_t failure_count = 0;
  std::string first_failure;

 private:
  class Subgraph;
  class Context;

  void infer_function(const onnx::FunctionProto& function, onnx::NodeProto& node, Context& caller, const Scope& scope,
                      int depth);
  void update_types(onnx::NodeProto& node, Context& context, Scope& scope);
  void propagate(onnx::NodeProto& node, const onnx::OpSchema& schema, Scope& scope);
  void check_sizes(const onnx::NodeProto& node, const std::string& tensor, const onnx::TypeProto& type) const;
  void count_inner_node() {
    if (++inner_nodes_ > most_inner_nodes)
      throw InputError(file_, "its sub-graphs and functions expand to more than {} nodes", most_inner_nodes);
  }
  void check_depth(int depth) const {
    if (depth > most_nested)
      throw InputError(file_, "its sub-graphs and functions are nested deeper than {}", most_nested);
  }
  void fail(const onnx::NodeProto& node, const char* why) {
    if (failure_count++ > 0) return;
    std::string line = why;
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    if (line.size() > 200) line = line.substr(0, 200) + "...";
    first_failure = fmt::format("{}: {}", describe(node), line);
  }

  const std::string& file_;
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
  onnx::shape_inference::SymbolTableImpl symbols_;
  std::size_t inner_nodes_ = 0;
};

// What an If, Loop or Scan asks about its branches.
class OnnxShapes::Inference::Subgraph final : public onnx::GraphInferencer {
 public:
  Subgraph(Inference& inference, onnx::GraphProto& graph, const Scope& outer, int depth)
      : inference_(inference), graph_(graph), outer_(outer), depth_(depth) {}

  std::vector<const onnx::TypeProto*> doInferencing(const std::vector<const onnx::TypeProto*>& input_types,
                                                    const std::vector<const onnx::TensorProto*>& input_data) override {
    inference_.check_depth(depth_);
    if (static_cast<std::size_t>(graph_.input_size()) != input_types.size())
      throw onnx::InferenceError(
          fmt::format("a sub-graph has {} inputs, its node gives {}", graph_.input_size(), input_types.size()));
    Scope& scope = scopes_.emplace_back();
    scope.opsets = outer_.opsets;
    for (const std::string& name : names_from_outside(graph_)) copy_from_outside(scope, name);
    inference_.symbols_.addFromGraph(graph_);
    scope.add_values(graph_.input());
    scope.add_values(graph_.value_info());
    scope.add_values(graph_.output());
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
  void copy_from_outside(Scope& scope, const std::string& name) const {
    const auto copy = [&name](const auto& from, auto& to) {
      if (const auto found = from.find(name); found != from.end()) to.insert(*found);
    };
    copy(outer_.types, scope.types);
    copy(outer_.data, scope.data);
    copy(outer_.sparse_data, scope.sparse_data);
    copy(outer_.values, scope.values);
  }

  Inference& inference_;
  onnx::GraphProto& graph_;
  const Scope& outer_;
  int depth_;
  std::deque<Scope> scopes_;  // one a call: the caller holds on to the types
};

class OnnxShapes::Inference::Context final : public onnx::shape_inference::InferenceContextImpl {
 public:
  Context(Inference& inference, onnx::NodeProto& node, const Scope& scope, int depth,
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
  Inference& inference_;
  const Scope& scope_;
  int depth_;
  std::unordered_map<std::string, std::unique_ptr<Subgraph>> subgraphs_;
};

void OnnxShapes::Inference::infer(onnx::NodeProto& node, Scope& scope, int depth) {
  scope.add_constant(node);
  const std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
  const auto opset = scope.opsets.find(domain);
  const onnx::OpSchema* schema =
      opset == scope.opsets.end() ? nullptr : onnx::OpSchemaRegistry::Schema(node.op_type(), opset->second, domain);
  const auto function = functions_.find(domain + ":" + node.op_type());
  if (schema == nullptr && function == functions_.end()) return;  // no one knows; the op table reports unknown types
  Context context(*this, node, scope, depth, scope.values);
  try {
    if (schema == nullptr) {
      infer_function(*function->second, node, context, scope, depth + 1);
    } else {
      // libonnx's functions read inputs and attributes without asking whether they are there.
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
    fail(node, error.what());  // what was inferred before it still counts, as in libonnx
  } catch (const std::exception& error) {
    fail(node, error.what());
    return;
  }
  update_types(node, context, scope);
  if (schema != nullptr && schema->has_data_propagation_function()) propagate(node, *schema, scope);
}

void OnnxShapes::Inference::infer_function(const onnx::FunctionProto& function, onnx::NodeProto& node, Context& caller,
                                           const Scope& scope, int depth) {
  check_depth(depth);
  Scope inner;
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

void OnnxShapes::Inference::update_types(onnx::NodeProto& node, Context& context, Scope& scope) {
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

void OnnxShapes::Inference::propagate(onnx::NodeProto& node, const onnx::OpSchema& schema, Scope& scope) {
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

void OnnxShapes::Inference::check_sizes(const onnx::NodeProto& node, const std::string& tensor,
                                        const onnx::TypeProto& type) const {
  const onnx::TensorShapeProto& shape =
      type.has_sparse_tensor_type() ? type.sparse_tensor_type().shape() : type.tensor_type().shape();
  if (shape.dim_size() > most_dimensions)
    throw InputError(file_, "node {}: its output {} would have {} dimensions", describe(node), quoted(tensor),
                     shape.dim_size());
  for (const auto& dimension : shape.dim())
    if (dimension.has_dim_value() && dimension.dim_value() < 0)
      throw InputError(file_, "node {}: its output {} would have a dimension of negative size {}", describe(node),
                       quoted(tensor), dimension.dim_value());
}

OnnxShapes::OnnxShapes(onnx::ModelProto& model, std::span<const std::uint32_t> order, const std::string& file)
    : inference_(std::make_unique<Inference>(model, file)) {
  for (const std::uint32_t node : order)
    inference_->infer(*model.mutable_graph()->mutable_node(static_cast<int>(node)), inference_->main, 0);
}

OnnxShapes::~OnnxShapes() = default;

const onnx::TypeProto* OnnxShapes::type_of(const std::string& tensor) const {
  const auto found = inference_->main.types.find(tensor);
  return found == inference_->main.types.end() ? nullptr : found->second;
}

std::string OnnxShapes::failures() const {
  if (inference_->failure_count == 0) return {};
  const int known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
  const auto opset = inference_->main.opsets.find("");
  const bool is_newer = opset != inference_->main.opsets.end() && opset->second > known;
  return fmt::format("{} node{}{}; the first is {}", inference_->failure_count,
                     inference_->failure_count == 1 ? "" : "s",
                     is_newer ? fmt::format(" (opset {}, inference knows up to {})", opset->second, known) : "",
                     inference_->first_failure);
}

}  // namespace emplace
