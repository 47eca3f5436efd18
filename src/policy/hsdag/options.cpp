#include "policy/hsdag/options.hpp"

#include "emplace/base/error.hpp"

namespace emplace::policy {

void describe(HsdagOptions& o, OptionVisitor& visit) {
  visit("grouping", o.grouping,
        {.choices = {"parsed", "none", "learned"},
         .help = "Nodes are placed by the clusters that the graph is parsed into, one by one (an encoder and a "
                 "placer), or by groups drawn from a softmax (a grouper and a placer)."});
  visit("groups", o.groups, {.min = 0, .max = 256, .help = "Number of groups for grouping = learned; 0 otherwise."});
  visit("update_timestep", o.update_timestep,
        {.min = 1,
         .max = 1e6,
         .help = "Placements of an episode; after each, its cluster's embedding is added to each node's features."});
  visit("parsing_passes", o.parsing_passes,
        {.min = 1,
         .max = 64,
         .help = "Parsing passes; each leaves a quarter to a third as many clusters.",
         .only_with = {{"grouping", {"parsed"}}}});
  visit("hidden", o.hidden, {.min = 1, .max = 8192, .help = "Width of all hidden layers."});
  visit(
      "encoder", o.encoder,
      {.choices = {"gcn", "gat", "gin"},
       .help = "The layers of the graph networks: graph convolutions (the paper's), graph attention with one head, or "
               "graph isomorphism layers, both in the released code."});
  visit("score_layers", o.score_layers,
        {.min = 1,
         .max = 64,
         .help = "Graph layers whose result scores edges (or draws groups).",
         .only_with = {{"grouping", {"parsed", "learned"}}}});
  visit("pool_layers", o.pool_layers, {.min = 1, .max = 64, .help = "Graph layers whose result is pooled."});
  visit(
      "dropout", o.dropout,
      {.min = 0, .max = 0.99, .help = "Share of the hidden values dropped while placements are drawn to learn from."});
  visit("features", o.features,
        {.choices = {"paper", "code"},
         .help = "The features of the paper, or only op types and the node's number, as in the released code."});
  visit("shape_feature", o.shape_feature,
        {.help = "A node's features have the shape of its last op's first output.",
         .only_with = {{"features", {"paper"}}}});
  visit("structure_features", o.structure_features,
        {.help = "A node's features have its in-degree, out-degree and fractal dimension.",
         .only_with = {{"features", {"paper"}}}});
  visit("position_feature", o.position_feature,
        {.help = "A node's features have sines and cosines of its position in topological order.",
         .only_with = {{"features", {"paper"}}}});
  visit("position_width", o.position_width,
        {.min = 2,
         .max = 1024,
         .help = "Number of sines and cosines of the position in topological order; even.",
         .only_with = {{"features", {"paper"}}, {"position_feature", {"true"}}}});
  visit("in_degrees", o.in_degrees,
        {.help = "In-degrees with a feature column each, ascending; none: those of the training's problems."});
  visit("out_degrees", o.out_degrees,
        {.help = "Out-degrees with a feature column each, ascending; none: those of the training's problems."});
}

HsdagOptions read_hsdag_options(const ConfigTable& table) {
  const auto o = read_options<HsdagOptions>(table);
  if (o.position_width % 2 != 0)
    throw InputError(table.place_of("position_width"), "position_width is {}, wanted an even number: half are sines",
                     o.position_width);
  if (o.grouping == "learned" && o.groups == 0)
    throw InputError(table.place_of("grouping"), "grouping 'learned' needs a number of groups");
  if (o.grouping != "learned" && o.groups > 0)
    throw InputError(table.place_of("groups"), "groups is {}, but grouping '{}' determines the number itself: wanted 0",
                     o.groups, o.grouping);
  return o;
}

}  // namespace emplace::policy
