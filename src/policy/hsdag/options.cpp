#include "policy/hsdag/options.hpp"

#include "emplace/base/error.hpp"

namespace emplace::policy {

void describe(HsdagOptions& o, OptionVisitor& visit) {
  visit("grouping", o.grouping,
        {.choices = {"parsed", "none", "learned"},
         .help = "Nodes are placed in the clusters that the graph is parsed into, each by itself (an encoder and a "
                 "placer), or in groups drawn from a softmax (a grouper and a placer)."});
  visit("groups", o.groups, {.min = 0, .max = 256, .help = "Groups of grouping = learned; 0 otherwise."});
  visit("update_timestep", o.update_timestep,
        {.min = 1,
         .max = 1e6,
         .help = "Placements of an episode; each node's features grow by its cluster's embedding after each."});
  visit("parsing_passes", o.parsing_passes,
        {.min = 1,
         .max = 64,
         .help = "How often clusters are parsed into larger ones; each pass leaves a quarter to a third of them."});
  visit("hidden", o.hidden, {.min = 1, .max = 8192, .help = "Width of all hidden layers."});
  visit("score_layers", o.score_layers,
        {.min = 1, .max = 64, .help = "Graph convolutions whose result scores edges (or draws groups)."});
  visit("pool_layers", o.pool_layers, {.min = 1, .max = 64, .help = "Graph convolutions whose result is pooled."});
  visit(
      "dropout", o.dropout,
      {.min = 0, .max = 0.99, .help = "Share of the hidden values dropped while placements are drawn to learn from."});
  visit("features", o.features,
        {.choices = {"paper", "code"},
         .help = "The features of the paper, or types and the number of the node alone, as in the released code."});
  visit("shape_feature", o.shape_feature, {.help = "Nodes have the shape of their last op's first output."});
  visit("structure_features", o.structure_features,
        {.help = "Nodes have their in-degree, out-degree and fractal dimension."});
  visit("position_feature", o.position_feature,
        {.help = "Nodes have sines and cosines of their place in topological order."});
  visit("position_width", o.position_width,
        {.min = 2, .max = 1024, .help = "So many sines and cosines of the place in topological order; even."});
  visit("in_degrees", o.in_degrees,
        {.help = "In-degrees that are told apart, ascending; none: those of the training's problems."});
  visit("out_degrees", o.out_degrees,
        {.help = "Out-degrees that are told apart, ascending; none: those of the training's problems."});
}

HsdagOptions read_hsdag_options(const ConfigTable& table) {
  const auto o = read_options<HsdagOptions>(table);
  if (o.position_width % 2 != 0)
    throw InputError(table.place_of("position_width"), "position_width is {}, wanted an even number: half are sines",
                     o.position_width);
  if (o.grouping == "learned" && o.groups == 0)
    throw InputError(table.place_of("grouping"), "grouping 'learned' needs a number of groups");
  if (o.grouping != "learned" && o.groups > 0)
    throw InputError(table.place_of("groups"), "groups is {}, but grouping '{}' has as many as it finds: wanted 0",
                     o.groups, o.grouping);
  return o;
}

}  // namespace emplace::policy
