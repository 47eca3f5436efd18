#include "policy/gdp/options.hpp"

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "policy/common/network_policy.hpp"
#include "policy/common/unit_levels.hpp"
#include "policy/gdp/relative_costs.hpp"

namespace emplace::policy {

void describe(GdpOptions& o, OptionVisitor& visit) {
  visit("hidden", o.hidden, {.min = 1, .max = 8192, .help = "Width of a node's embedding."});
  visit("graph_layers", o.graph_layers, {.min = 0, .max = 64, .help = "Layers of GraphSAGE."});
  visit("placer_layers", o.placer_layers, {.min = 0, .max = 64, .help = "Layers of the Transformer that places."});
  visit("heads", o.heads, {.min = 1, .max = 1024, .help = "Heads of attention; they divide `hidden`."});
  visit("feedforward", o.feedforward, {.min = 1, .max = 65536, .help = "Inner width of a Transformer's layer."});
  visit("segment", o.segment,
        {.min = 1, .max = 65536, .help = "Nodes in a segment; they attend to each other and to the segment before."});
  visit("type_width", o.type_width, {.min = 1, .max = 8192, .help = "Width of the learned vector of an op's type."});
  visit("superposition", o.superposition,
        {.choices = {"per_node", "graph", "none"},
         .help = "What gates the placer: a vector of each node (GDP), one of the graph (GO), or nothing."});
  visit("attention", o.attention, {.help = "Off: the placer has no attention between nodes (ablation)."});
  visit("memory", o.memory,
        {.help = "Off: a segment does not attend to the one before it (ablation).",
         .only_with = {{"attention", {"true"}}}});
  visit("rounds", o.rounds,
        {.min = 1,
         .max = 64,
         .help = "Times that the network decides; after the first time it reads its last decisions (GO: 3)."});
  visit(
      "schedule_levels", o.schedule_levels,
      {.min = 0,
       .max = 256,
       .help = "Priority levels: each node draws one beside its device, and ready ops of lower levels run first (GO's "
               "scheduling head); needs schedule = priority. 0: devices only."});
  visit("neighbour_features", o.neighbour_features,
        {.help = "A node's features have its distances to its first predecessors in topological order."});
  visit("cost_features", o.cost_features, {.help = "A node's features have its time on each kind of device."});
  visit(
      "device_kinds", o.device_kinds,
      {.help = "The kinds of devices whose times are read (cost_features); empty: those of the training's problems."});
  visit("relative_costs", o.relative_costs,
        {.help = "A node's features, and its score on each device, have its time, memory and transfers relative to "
                 "other nodes and devices, which mean the same on machines that were not in the training.",
         .only_with = {{"device_head", {"features"}}}});
  visit("position_waves", o.position_waves,
        {.min = 0,
         .max = 4096,
         .help = "A node's features have the sine and cosine of this many waves at its position in topological order; "
                 "without them nodes of equal type, shape and neighbourhood get the same probabilities."});
  visit("centered", o.centered, {.help = "The placer reads each node's embedding minus the mean over the graph."});
  visit(
      "device_head", o.device_head,
      {.choices = {"fixed", "features"},
       .help = "The network's output has a column for each device, or compares nodes with features of the devices "
               "(speed, memory, links), so that the policy can also place on machines that were not in its training."});
  visit("devices", o.devices,
        {.min = 0,
         .max = 255,
         .help = "Columns of the fixed head; on a machine with fewer devices the last ones are forbidden, so that one "
                 "network learns on machines of several sizes. 0: as many as the problems have devices.",
         .only_with = {{"device_head", {"fixed"}}}});
  visit("head_gain", o.head_gain,
        {.min = 0,
         .max = 100,
         .help = "Scale of the head's initial weights: with 0.01 the first policy is nearly uniform; with larger ones "
                 "equal devices have different probabilities from the start."});
  visit(
      "coarse_units", o.coarse_units,
      {.min = 0,
       .max = 1e6,
       .help =
           "Training begins with units merged into this many blocks, each drawn with one random number, and doubles "
           "the number level by level; `place --policy` uses all levels in turn. 0: every unit is drawn separately."});
  visit_coarse_share(visit, o.coarse_share, "unit", "coarse_units");
}

namespace {

Superposition superposition_of(const std::string& name) {
  if (name == "none") return Superposition::none;
  return name == "graph" ? Superposition::graph : Superposition::per_node;
}

// `wanted`: the option; 0: the number of devices that all problems have.
std::size_t columns_of_head(std::size_t wanted, std::span<const PolicyProblem> problems) {
  if (wanted == 0) return common_device_count(problems, "gdp");
  for (const PolicyProblem& each : problems)
    if (each.problem->device_count() > wanted)
      throw InputError("gdp.devices", "is {}, but {} has {} devices", wanted, quote(each.problem->name),
                       each.problem->device_count());
  return wanted;
}

}  // namespace

GdpFeatureOptions gdp_feature_options(const GdpOptions& o) {
  return {o.neighbour_features, o.device_kinds, static_cast<std::size_t>(o.position_waves), o.device_head == "features",
          o.relative_costs};
}

GdpOptions read_gdp_options(const ConfigTable& table) {
  const auto o = read_options<GdpOptions>(table);
  if (o.hidden % o.heads != 0)
    throw InputError(table.place_of("heads"), "heads is {}, wanted a divisor of hidden, which is {}", o.heads,
                     o.hidden);
  if (o.relative_costs && o.device_head != "features")
    throw InputError(table.place_of("relative_costs"), "relative_costs needs device_head = 'features'");
  if (!o.cost_features && !o.device_kinds.empty())
    throw InputError(table.place_of("device_kinds"), "device_kinds needs cost_features = true");
  return o;
}

void settle_kinds(GdpOptions& options, const PolicySetup& setup) {
  if (options.cost_features && options.device_kinds.empty()) options.device_kinds = device_kinds_of(setup.problems);
}

GdpSizes gdp_sizes(const GdpOptions& o, const PolicySetup& setup) {
  GdpSizes sizes;
  sizes.types = setup.op_types.size();
  sizes.type_width = static_cast<std::size_t>(o.type_width);
  sizes.features = gdp_feature_count(gdp_feature_options(o));
  if (o.device_head == "features")
    sizes.device_features = gdp_device_features;
  else
    sizes.devices = columns_of_head(static_cast<std::size_t>(o.devices), setup.problems);
  if (o.relative_costs) sizes.pair_features = gdp_pair_costs;
  sizes.priority_levels = static_cast<std::size_t>(o.schedule_levels);
  if (o.rounds > 1)
    sizes.decision = (sizes.device_features > 0 ? sizes.device_features : sizes.devices) + sizes.priority_levels;
  sizes.hidden = static_cast<std::size_t>(o.hidden);
  sizes.graph_layers = static_cast<std::size_t>(o.graph_layers);
  sizes.placer_layers = static_cast<std::size_t>(o.placer_layers);
  sizes.heads = static_cast<std::size_t>(o.heads);
  sizes.feedforward = static_cast<std::size_t>(o.feedforward);
  sizes.segment = static_cast<std::size_t>(o.segment);
  sizes.superposition = superposition_of(o.superposition);
  sizes.attention = o.attention;
  sizes.memory = o.memory;
  sizes.centered = o.centered;
  sizes.head_gain = o.head_gain;
  return sizes;
}

}  // namespace emplace::policy
