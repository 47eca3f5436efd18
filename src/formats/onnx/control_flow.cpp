// Shapes, values and costs of If, Loop and Scan. libonnx drops the shapes of a Loop's states, since they may change
// with every trip; here the body is inferred trip by trip until nothing changes any more.
#include <algorithm>

#include "formats/onnx/inference.hpp"
#include "formats/onnx/inference_context.hpp"
#include "formats/onnx/node_costs.hpp"

namespace emplace::formats {

namespace {

constexpr std::int64_t most_inferred_trips = 64;
constexpr std::int64_t largest_trip_count = std::int64_t{1} << 40;
constexpr std::size_t most_unrolled_nodes = 100'000;  // below the limit at which a file is refused

std::optional<std::int64_t> single_whole(const OnnxValue& value) {
  if (value == nullptr || value->is_real() || value->elements.size() != 1 || !value->elements[0].known)
    return std::nullopt;
  return value->elements[0].whole;
}

OnnxValue whole_value(std::int64_t number, std::int32_t type, const onnx::ValueInfoProto& as) {
  // Some exporters state the trip number as a vector of one element.
  const bool is_vector = as.type().tensor_type().shape().dim_size() == 1;
  return std::make_shared<const FoldedTensor>(
      FoldedTensor{type, is_vector ? FoldedDims{1} : FoldedDims{}, {FoldedElement::of_whole(number)}});
}

bool same_type(const onnx::TypeProto* a, const onnx::TypeProto* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->SerializeAsString() == b->SerializeAsString();
}

bool same_value(const OnnxValue& a, const OnnxValue& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->type == b->type && a->dims == b->dims &&
         std::ranges::equal(a->elements, b->elements, [](const FoldedElement& x, const FoldedElement& y) {
           return x.known == y.known && x.whole == y.whole && x.real == y.real;
         });
}

const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, const char* name) {
  for (const auto& each : node.attribute())
    if (each.name() == name) return &each;
  return nullptr;
}

}  // namespace

// One Loop node. Its body is inferred with the types and values of each trip, until the number of trips is reached, or
// a trip leaves all states as they were: then the remaining trips are like the last one.
class OnnxInference::LoopRun {
 public:
  LoopRun(OnnxInference& inference, const onnx::NodeProto& node, Context& context, OnnxScope& scope)
      : inference_(inference), node_(node), context_(context), scope_(scope), body_(context.subgraph("body")) {
    states_ = static_cast<std::size_t>(std::max(node.input_size() - 2, 0));
    if (static_cast<std::size_t>(body_.graph().input_size()) != states_ + 2 ||
        static_cast<std::size_t>(body_.graph().output_size()) < states_ + 1)
      throw onnx::InferenceError("the body of a Loop has the inputs trip, condition and each state, and returns them");
  }

  void infer() {
    set_limits();
    for (std::size_t i = 0; i < states_; ++i) {
      const std::string& name = node_.input(static_cast<int>(i) + 2);
      const auto type = scope_.types.find(name);
      now_.push_back({type == scope_.types.end() ? nullptr : type->second, inference_.folder_.value(scope_, name)});
    }
    while (goes_on() && !is_settled_ && trips_ < most_inferred_trips && inference_.inner_nodes_ < most_unrolled_nodes)
      run_trip();
    if (!is_settled_ && goes_on()) run_any_trip();
    if (outputs_.empty()) outputs_ = body_.run(inputs(true));  // no trip at all: only the types of the outputs
    finish();
  }

 private:
  void set_limits() {
    if (node_.input_size() > 0 && !node_.input(0).empty()) {
      limit_ = single_whole(inference_.folder_.value(scope_, node_.input(0)));
      is_limit_unknown_ = !limit_;
      if (limit_ && *limit_ > largest_trip_count) limit_.reset();  // "until the condition is false"
    }
    if (node_.input_size() > 1 && !node_.input(1).empty())
      condition_ = single_whole(inference_.folder_.value(scope_, node_.input(1)));
  }

  // Whether a next trip is certain, or at least possible.
  [[nodiscard]] bool goes_on() const { return (!limit_ || trips_ < *limit_) && condition_.value_or(1) != 0; }
  [[nodiscard]] bool is_certain() const { return !is_limit_unknown_ && condition_.has_value(); }

  [[nodiscard]] std::vector<Subgraph::Known> inputs(bool any_trip) const {
    std::vector<Subgraph::Known> given(2);
    if (!any_trip) given[0].value = whole_value(trips_, onnx::TensorProto::INT64, body_.graph().input(0));
    if (!any_trip && condition_)
      given[1].value = whole_value(*condition_, onnx::TensorProto::BOOL, body_.graph().input(1));
    for (const Subgraph::Known& state : now_) given.push_back(any_trip ? Subgraph::Known{state.type} : state);
    return given;
  }

  [[nodiscard]] std::vector<Subgraph::Known> states_after() const {
    return {outputs_.begin() + 1, outputs_.begin() + 1 + static_cast<std::ptrdiff_t>(states_)};
  }

  void run_trip() {
    if (!is_certain()) {
      run_any_trip();
      return;
    }
    outputs_ = body_.run(inputs(false));
    ++trips_;
    last_cost_ = cost_of_nodes(body_.graph(), body_.last_scope(), inference_.file_);
    add_cost(cost_, last_cost_, 1);
    const std::vector<Subgraph::Known> next = states_after();
    const bool same = std::ranges::equal(now_, next, [](const auto& a, const auto& b) {
      return same_type(a.type, b.type) && same_value(a.value, b.value);
    });
    condition_ = single_whole(outputs_[0].value);
    now_ = next;
    // The second trip tells whether the first was special.
    if (same && trips_ >= 2 && is_certain() && limit_) settle(static_cast<double>(*limit_ - trips_));
  }

  // One trip of which neither number nor values are known; the types of the states must stay, or they are dropped.
  void run_any_trip() {
    outputs_ = body_.run(inputs(true));
    last_cost_ = cost_of_nodes(body_.graph(), body_.last_scope(), inference_.file_);
    const std::vector<Subgraph::Known> next = states_after();
    for (std::size_t i = 0; i < states_; ++i) {
      if (!same_type(now_[i].type, next[i].type)) {
        now_[i].type = nullptr;
        last_cost_.is_complete = false;
      }
      now_[i].value = nullptr;
    }
    if (limit_ && condition_)
      settle(static_cast<double>(*limit_ - trips_));
    else
      settle_unknown();
  }

  void settle(double trips_left) {
    is_settled_ = true;
    if (condition_.value_or(1) == 0) return;
    add_cost(cost_, last_cost_, trips_left);
    trips_ = *limit_;
  }
  void settle_unknown() {
    is_settled_ = is_count_unknown_ = true;
    add_cost(cost_, last_cost_, 1);
    inference_.note_unknown_trips(cost_);
  }

  void finish() {
    for (std::size_t i = 0; i < static_cast<std::size_t>(node_.output_size()); ++i) {
      onnx::TypeProto& type = *context_.getOutputType(i);
      if (i < states_) {
        if (now_[i].type != nullptr) type = *now_[i].type;
        continue;
      }
      if (i + 1 >= outputs_.size() || !outputs_[i + 1].type->has_tensor_type()) continue;
      set_scan_output(type, *outputs_[i + 1].type);
    }
    for (std::size_t i = 0; i < states_ && static_cast<int>(i) < node_.output_size(); ++i)
      if (const std::string& name = node_.output(static_cast<int>(i)); !name.empty())
        inference_.folder_.publish(scope_, name, now_[i].value);
    scope_.costs[cost_key(node_)] = cost_;
  }

  // The results of all trips, one after the other.
  void set_scan_output(onnx::TypeProto& type, const onnx::TypeProto& each) const {
    type.mutable_tensor_type()->set_elem_type(each.tensor_type().elem_type());
    if (!each.tensor_type().has_shape()) return;
    auto& shape = *type.mutable_tensor_type()->mutable_shape();
    auto& first = *shape.add_dim();
    if (!is_count_unknown_) first.set_dim_value(trips_);
    for (const auto& dimension : each.tensor_type().shape().dim()) *shape.add_dim() = dimension;
  }

  OnnxInference& inference_;
  const onnx::NodeProto& node_;
  Context& context_;
  OnnxScope& scope_;
  Subgraph& body_;
  std::size_t states_ = 0;
  std::optional<std::int64_t> limit_;  // most trips; none: no limit, or one that is not known
  bool is_limit_unknown_ = false;
  std::optional<std::int64_t> condition_ = 1;  // none: not known
  std::vector<Subgraph::Known> now_;           // the states after the trips so far
  std::vector<Subgraph::Known> outputs_;       // of the body's last run
  std::int64_t trips_ = 0;
  bool is_settled_ = false, is_count_unknown_ = false;
  BodyCost cost_, last_cost_;
};

std::optional<std::int64_t> OnnxInference::known_whole(const std::string& tensor) {
  return single_whole(folder_.value(main, tensor));
}

void OnnxInference::note_unknown_trips(BodyCost& cost) {
  cost.is_complete = false;
  ++doubts_.unknown_trips;
}

bool OnnxInference::infer_control_flow(onnx::NodeProto& node, const onnx::OpSchema& schema, Context& context,
                                       OnnxScope& scope) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return false;
  if (node.op_type() == "If")
    infer_if(node, schema, context, scope);
  else if (node.op_type() == "Loop")
    LoopRun(*this, node, context, scope).infer();
  else if (node.op_type() == "Scan")
    infer_scan(node, schema, context, scope);
  else
    return false;
  return true;
}

namespace {

// Gives outputs that have no fixed size the sizes of this branch, which must have run; returns whether all outputs have
// fixed sizes then.
bool take_sizes(const onnx::GraphProto& branch, const OnnxScope& scope, int outputs, onnx::InferenceContext& context) {
  const auto is_static = [](const onnx::TypeProto& type) {
    return type.tensor_type().has_shape() &&
           std::ranges::all_of(type.tensor_type().shape().dim(), [](const auto& dim) { return dim.has_dim_value(); });
  };
  bool all = true;
  for (int i = 0; i < outputs; ++i) {
    onnx::TypeProto& type = *context.getOutputType(static_cast<std::size_t>(i));
    const auto found = i < branch.output_size() ? scope.types.find(branch.output(i).name()) : scope.types.end();
    if (!is_static(type) && found != scope.types.end() && is_static(*found->second)) type = *found->second;
    all = all && is_static(type);
  }
  return all;
}

}  // namespace

// Of an If whose condition is not known. A branch of which a node contradicts the known shapes cannot run with them, as
// that of a network for another sample rate: then the other branch is the one that runs. Otherwise libonnx merges the
// types of both; the cost is that of the branch with more FLOPs, and so are the sizes that differ, or that the other
// branch does not give.
void OnnxInference::infer_both_branches(onnx::NodeProto& node, const onnx::OpSchema& schema, Context& context,
                                        OnnxScope& scope) {
  const Doubts before = doubts_;
  std::string error;
  try {
    schema.GetTypeAndShapeInferenceFunction()(context);
  } catch (const onnx::InferenceError& why) {
    error = why.what();  // the branches' costs are known all the same
  }
  Subgraph &first = context.subgraph("then_branch"), &second = context.subgraph("else_branch");
  if (!first.has_run() || !second.has_run()) return;
  const BodyCost of_first = cost_of_nodes(first.graph(), first.last_scope(), file_);
  const BodyCost of_second = cost_of_nodes(second.graph(), second.last_scope(), file_);
  const bool first_fits = !first.last_doubts().first_contradicts, second_fits = !second.last_doubts().first_contradicts;
  const bool one_fits = first_fits != second_fits;
  const bool takes_second = one_fits ? second_fits : of_second.flops > of_first.flops;
  Subgraph &taken = takes_second ? second : first, &other = takes_second ? first : second;
  if (one_fits) {
    doubts_ = before;
    doubts_.add(taken.last_doubts());
    if (of_one_branch_.insert(&node).second && of_one_branch_.size() == 1)
      first_of_one_branch_ =
          fmt::format("{}, not its {} because of {}", describe(node), takes_second ? "then_branch" : "else_branch",
                      other.last_doubts().first_failure);
  } else {
    ++doubts_.unknown_trips;
  }
  scope.costs[cost_key(node)] = takes_second ? of_second : of_first;
  const bool sized = (one_fits || of_first.flops != of_second.flops) &&
                     take_sizes(taken.graph(), taken.last_scope(), node.output_size(), context);
  if (!error.empty() && !sized && !one_fits) throw onnx::InferenceError(error);
}

// With a known condition only one branch counts.
void OnnxInference::infer_if(onnx::NodeProto& node, const onnx::OpSchema& schema, Context& context, OnnxScope& scope) {
  const auto condition = single_whole(folder_.value(scope, node.input(0)));
  if (!condition) return infer_both_branches(node, schema, context, scope);
  Subgraph& branch = context.subgraph(*condition != 0 ? "then_branch" : "else_branch");
  const std::vector<Subgraph::Known> outputs = branch.run({});
  if (outputs.size() < static_cast<std::size_t>(node.output_size()))
    throw onnx::InferenceError("a branch has fewer outputs than its node");
  for (int i = 0; i < node.output_size(); ++i) {
    const Subgraph::Known& output = outputs[static_cast<std::size_t>(i)];
    *context.getOutputType(static_cast<std::size_t>(i)) = *output.type;
    if (!node.output(i).empty()) folder_.publish(scope, node.output(i), output.value);
  }
  scope.costs[cost_key(node)] = cost_of_nodes(branch.graph(), branch.last_scope(), file_);
}

// libonnx keeps the shapes of a Scan's states; the number of trips is the size of a scanned input.
void OnnxInference::infer_scan(onnx::NodeProto& node, const onnx::OpSchema& schema, Context& context,
                               OnnxScope& scope) {
  schema.GetTypeAndShapeInferenceFunction()(context);
  Subgraph& body = context.subgraph("body");
  if (!body.has_run()) return;
  const BodyCost each = cost_of_nodes(body.graph(), body.last_scope(), file_);
  const auto* scanned = attribute_of(node, "num_scan_inputs");
  const auto* axes = attribute_of(node, "scan_input_axes");
  const std::int64_t first = node.input_size() - (scanned == nullptr ? 0 : scanned->i());
  const auto type = first < 0 || first >= node.input_size() ? scope.types.end()
                                                            : scope.types.find(node.input(static_cast<int>(first)));
  const onnx::TensorShapeProto* shape = type == scope.types.end() ? nullptr : &type->second->tensor_type().shape();
  std::int64_t axis = axes == nullptr || axes->ints_size() == 0 ? 0 : axes->ints(0);
  if (shape != nullptr && axis < 0) axis += shape->dim_size();
  const bool known =
      shape != nullptr && axis >= 0 && axis < shape->dim_size() && shape->dim(static_cast<int>(axis)).has_dim_value();
  BodyCost cost;
  add_cost(cost, each, known ? static_cast<double>(shape->dim(static_cast<int>(axis)).dim_value()) : 1);
  if (!known) note_unknown_trips(cost);
  scope.costs[cost_key(node)] = cost;
}

}  // namespace emplace::formats
