#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"
#include "emplace/cost/lower.hpp"

namespace emplace {

void describe(RooflineOptions& options, OptionVisitor& visit) {
  visit("prune", options.prune, {.help = "Fold constants, identities and shape arithmetic away before costing."});
  visit("training", options.training, {.help = "Expand a forward graph to a training step."});
  visit("optimizer", options.optimizer,
        {.choices = {"sgd", "momentum", "adam"}, .help = "Optimiser whose state stays in memory when training is on."});
  visit(
      "fuse", options.fuse,
      {.help = "Fuse element-wise ops with each other and into products and convolutions, as runtimes do: one launch, "
               "no traffic between."});
  visit(
      "contract", options.contract,
      {.choices = {"none", "chain", "single-parent", "layers"},
       .help = "Make one op of each chain, of each op and those that follow it alone, or of each layer of the model."});
  visit("layers", options.layers,
        {.min = 0, .help = "With contract = layers: how many, cut by depth; 0: the layers that the model names."});
  visit("coarsen", options.coarsen,
        {.min = 0,
         .help = "Merge along the heaviest edges until this many ops are left (and ops for weights that "
                 "several of them use); 0: do not."});
  visit("colocate", options.colocate,
        {.choices = {"none", "tensorflow", "colocrl", "colocrl-group"},
         .help = "Bind variables with their reads and updates and gradients with their ops (tensorflow); also each op "
                 "with its only successor (colocrl), or each group with its only one, repeatedly (colocrl-group)."});
}

PassResult apply_passes(const Graph& input, const RooflineOptions& options, const std::string& place) {
  PassResult result;
  bool first = true;
  const auto current = [&]() -> const Graph& { return first ? input : result.graph; };
  // Each pass starts from the graph before; its ops stand for those of the first graph.
  const auto keep = [&](PassResult pass) {
    EMPLACE_CHECK(pass.became.size() == current().ops.size(), "a pass lost its map back");
    result = first ? std::move(pass) : followed_by(result, std::move(pass));
    first = false;
  };
  if (options.prune) keep(prune(current()));
  if (options.training) {
    for (const GraphOp& op : current().ops)
      if (op.phase != Phase::forward)
        throw InputError(place,
                         "the graph is a training step already (op {} belongs to its backward pass or update), so it "
                         "cannot be expanded to one",
                         quote(op.name));
    keep(expand_training(current(), {.optimizer = options.optimizer}));
  }
  if (options.fuse) keep(fuse(current()));
  if (options.contract == "chain") keep(contract_chains(current(), ChainRule::chain));
  if (options.contract == "single-parent") keep(contract_chains(current(), ChainRule::single_parent));
  if (options.contract == "layers")
    keep(split_into_layers(current(), {.layers = static_cast<std::size_t>(options.layers)}));
  if (options.coarsen > 0) keep(coarsen(current(), static_cast<std::size_t>(options.coarsen)));
  keep(share_parameters(current()));
  if (options.colocate != "none") {
    using Recursion = ColocateOptions::Recursion;
    const Recursion recursion = options.colocate == "colocrl"         ? Recursion::op
                                : options.colocate == "colocrl-group" ? Recursion::group
                                                                      : Recursion::none;
    keep(colocate(current(), {.recursion = recursion}));
  }
  return result;
}

}  // namespace emplace
