#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "cost/lower.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

void describe(RooflineOptions& options, OptionVisitor& visit) {
  visit("prune", options.prune,
        {.help = "Remove constants, identities and what is computed from constants alone before costing."});
  visit("training", options.training, {.help = "Expand a forward graph to a training step."});
  visit("optimizer", options.optimizer,
        {.choices = {"sgd", "momentum", "adam"}, .help = "Optimiser whose state stays in memory when training is on."});
  visit("fuse", options.fuse,
        {.help =
             "Fuse element-wise ops with each other and into products and convolutions, as runtimes do: one launch and "
             "no memory traffic between them."});
  visit("contract", options.contract,
        {.choices = {"none", "chain", "single-parent", "layers"},
         .help = "Merge ops: each chain into one op, each op with its only predecessor, or each layer into one op."});
  visit("layers", options.layers,
        {.min = 0,
         .help = "With contract = layers: number of layers, cut by depth; 0: the layers that the model names."});
  visit("coarsen", options.coarsen,
        {.min = 0,
         .help = "Merge along the heaviest edges until this many ops are left (not counting ops for weights that "
                 "several ops use); 0: no merging."});
  visit("colocate", options.colocate,
        {.choices = {"none", "tensorflow", "colocrl", "colocrl-group"},
         .help = "Co-locate variables with their reads and updates, and gradients with their ops (tensorflow); also "
                 "each op with its only successor (colocrl), or repeatedly each group with its only successor "
                 "(colocrl-group)."});
  visit(
      "allow_unsized", options.allow_unsized,
      {.help = "Accept a model of which more than 1 % of the ops have outputs of unknown size: they count 0 bytes and "
               "0 FLOPs, so that its costs are too low."});
}

namespace {

// The graph as a pass that changes nothing leaves it.
PassResult unchanged(Graph graph) {
  PassResult result{std::move(graph), {}};
  for (std::size_t i = 0; i < result.graph.ops.size(); ++i) result.became.emplace_back(i);
  return result;
}

// Applies passes one after the other and combines them into one from the first graph.
class Passes {
 public:
  explicit Passes(const Graph& first) : first_(&first) {}
  explicit Passes(Graph&& first) : result_(unchanged(std::move(first))) {}
  [[nodiscard]] const Graph& current() const { return result_ ? result_->graph : *first_; }
  void keep(PassResult pass) {
    EMPLACE_CHECK(pass.became.size() == current().ops.size(), "a pass lost its map back");
    result_ = result_ ? followed_by(*result_, std::move(pass)) : std::move(pass);
  }
  // For a pass that takes the current graph apart, so that a large graph is not in memory twice.
  template <class Pass>
  void keep_by(Pass&& pass) {
    PassResult before = result();
    result_ = pass(std::move(before.graph));
    for (OpId& now : before.became)
      if (!now.is_none()) now = result_->became[now.index()];
    result_->became = std::move(before.became);
  }
  PassResult result() { return result_ ? std::move(*result_) : unchanged(*first_); }

 private:
  const Graph* first_ = nullptr;  // null: result_ has it
  std::optional<PassResult> result_;
};

}  // namespace

PassResult kernel_passes(const Graph& graph, const RooflineOptions& options, const std::string& place) {
  Passes passes(graph);
  const auto is_forward = [](const GraphOp& op) { return op.phase == Phase::forward; };
  const bool inference =
      !options.training && !graph.places_weight_arithmetic && std::ranges::all_of(graph.ops, is_forward);
  if (graph.places_constants && (options.training || !options.prune))
    throw InputError(place, "constants=placed is for inference with pruning, which says what is constant");
  if (options.prune) passes.keep(prune(graph, {.inference = inference}));
  if (options.training) {
    for (const GraphOp& op : passes.current().ops)
      if (op.phase != Phase::forward)
        throw InputError(place,
                         "the graph is a training step already (op {} belongs to its backward pass or update), so it "
                         "cannot be expanded to one",
                         quote(op.name));
    passes.keep_by(
        [&](Graph current) { return expand_training(std::move(current), {.optimizer = options.optimizer}); });
  }
  if (options.fuse) passes.keep(fuse(passes.current()));
  return passes.result();
}

PassResult grouping_passes(Graph kernels, const RooflineOptions& options) {
  Passes passes(std::move(kernels));
  if (options.contract == "chain") passes.keep(contract_chains(passes.current(), ChainRule::chain));
  if (options.contract == "single-parent") passes.keep(contract_chains(passes.current(), ChainRule::single_parent));
  if (options.contract == "layers")
    passes.keep(split_into_layers(passes.current(), {.layers = static_cast<std::size_t>(options.layers)}));
  if (options.coarsen > 0) passes.keep(coarsen(passes.current(), static_cast<std::size_t>(options.coarsen)));
  passes.keep_by([](Graph graph) { return share_parameters(std::move(graph)); });
  if (options.colocate != "none") {
    using Recursion = ColocateOptions::Recursion;
    const Recursion recursion = options.colocate == "colocrl"         ? Recursion::op
                                : options.colocate == "colocrl-group" ? Recursion::group
                                                                      : Recursion::none;
    passes.keep(colocate(passes.current(), {.recursion = recursion}));
  }
  return passes.result();
}

PassResult apply_passes(const Graph& graph, const RooflineOptions& options, const std::string& place) {
  const PassResult kernels = kernel_passes(graph, options, place);
  return followed_by(kernels, grouping_passes(kernels.graph, options));
}

}  // namespace emplace::cost
