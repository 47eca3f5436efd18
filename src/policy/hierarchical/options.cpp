#include "policy/hierarchical/options.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "policy/common/network_policy.hpp"
#include "policy/common/unit_levels.hpp"

namespace emplace::policy {

namespace {

constexpr std::size_t most_groups = 256;  // a group is one byte
constexpr double largest = 1e6;           // of options that scale logits: above it a float may overflow
constexpr const char* place = "policy hierarchical";

}  // namespace

void describe(HierarchicalOptions& o, OptionVisitor& visit) {
  visit("grouping", o.grouping,
        {.choices = {"learned", "none", "random"},
         .help = "Groups of units are learned by the grouper, not used (the placer places units), or drawn at random; "
                 "the last two are ablations."});
  visit("groups", o.groups,
        {.min = 0,
         .max = most_groups,
         .help = "Number of groups; 0: the smallest of 256, 20 a device, and the units of the smallest problem.",
         .only_with = {{"grouping", {"none"}, true}}});
  visit("placements_per_grouping", o.placements_per_grouping,
        {.min = 1, .help = "Placements drawn for each drawn grouping.", .only_with = {{"grouping", {"none"}, true}}});
  visit("grouper_hidden", o.grouper_hidden,
        {.min = 1, .max = 8192, .help = "Hidden units of the grouper.", .only_with = {{"grouping", {"learned"}}}});
  visit("hidden", o.hidden,
        {.min = 2, .max = 8192, .help = "Units of the decoder's LSTM, and of both directions of the encoder's; even."});
  visit("type_width", o.type_width, {.min = 1, .max = 8192, .help = "Width of the learned vector of an op's type."});
  visit("adjacency", o.adjacency,
        {.min = 0, .max = 8192, .help = "Neighbours of an op that the grouper reads, half producers, half consumers."});
  visit("shape_outputs", o.shape_outputs, {.min = 1, .max = 64, .help = "Outputs of an op whose shapes are read."});
  visit("shape_dimensions", o.shape_dimensions,
        {.min = 1, .max = 64, .help = "Dimensions of each output that are read."});
  visit("number_of_outputs", o.number_of_outputs,
        {.help = "The grouper also reads how many outputs an op has, as the paper's does.",
         .only_with = {{"grouping", {"learned"}}}});
  visit("position_waves", o.position_waves,
        {.min = 0,
         .max = 256,
         .help =
             "The grouper also reads the sine and cosine of this many waves at an op's position in topological order; "
             "without them it cannot distinguish ops of equal type and shape with neighbours at similar positions."});
  visit(
      "order_prior", o.order_prior,
      {.min = 0,
       .max = 1000,
       .help = "A unit's logit of a group also has minus this times their squared distance, in groups, where units are "
               "ordered by layers of the model: the first groups are parts of layers and have the numbers of their "
               "neighbours. 0: none, as in the paper.",
       .only_with = {{"grouping", {"learned"}}}});
  visit("grouper_gain", o.grouper_gain,
        {.min = 0,
         .max = 1000,
         .above_min = true,
         .help = "Scale of the grouper's initial output weights, as a multiple of Glorot's; above 1 the first "
                 "groupings are similar from sample to sample, so that the placer can learn to place them.",
         .only_with = {{"grouping", {"learned"}}}});
  visit(
      "grouper_entropy", o.grouper_entropy,
      {.min = 0,
       .max = 1,
       .help = "Weight of the entropy of the many grouping decisions within the policy's entropy, in metrics.csv too.",
       .only_with = {{"grouping", {"learned"}}}});
  visit("aligned", o.aligned,
        {.help = "The placer also reads its memory of the group that it places; the paper's placer must find it by "
                 "attention."});
  visit("squash", o.squash,
        {.min = 0,
         .max = largest,
         .above_min = true,
         .help = "C of the placer's logits C tanh(l / T): the bound of their absolute values."});
  visit("temperature", o.temperature,
        {.min = 1 / largest, .max = largest, .help = "T of the placer's logits C tanh(l / T)."});
  visit(
      "noise", o.noise,
      {.choices = {"uniform", "rms", "none"},
       .help = "Noise on all logits: uniform within noise_size, normal with noise_size times their root mean square."});
  visit("noise_size", o.noise_size,
        {.min = 0, .max = largest, .help = "Size of the noise.", .only_with = {{"noise", {"none"}, true}}});
  visit("noise_share", o.noise_share,
        {.min = 0,
         .max = 1,
         .help = "Share of the training's budget, from the beginning, with noise.",
         .only_with = {{"noise", {"none"}, true}}});
  visit("coarse_groups", o.coarse_groups,
        {.min = 0,
         .max = 1e6,
         .help = "Training begins with neighbouring groups (units without grouping) joined to this many blocks, whose "
                 "devices are drawn with one random number, and doubles the number level by level. 0: every group is "
                 "drawn separately, as in the paper."});
  visit_coarse_share(visit, o.coarse_share, "group", "coarse_groups");
}

GroupingMode mode_of(const HierarchicalOptions& options) {
  return options.grouping == "none"     ? GroupingMode::none
         : options.grouping == "random" ? GroupingMode::random
                                        : GroupingMode::learned;
}

OpColumns op_columns(const HierarchicalOptions& o) {
  return {.shapes = {static_cast<std::size_t>(o.shape_outputs), static_cast<std::size_t>(o.shape_dimensions)},
          .number_of_outputs = o.number_of_outputs,
          .neighbours = static_cast<std::size_t>(o.adjacency) / 2,
          .position_waves = static_cast<std::size_t>(o.position_waves)};
}

LogitNoise noise_of(const HierarchicalOptions& options) {
  return {noise_kind_of(options.noise), options.noise_size, options.noise_share};
}

GroupBlocks group_blocks_of(const HierarchicalOptions& options) {
  return {static_cast<std::size_t>(options.coarse_groups), options.coarse_share};
}

HierarchicalSizes hierarchical_sizes(const HierarchicalOptions& o, const PolicySetup& setup) {
  if (o.hidden % 2 != 0)
    throw InputError(place, "hidden is {}, wanted an even number: the encoder has half of it in each direction",
                     o.hidden);
  if (o.adjacency % 2 != 0)
    throw InputError(place, "adjacency is {}, wanted an even number: half of it are producers", o.adjacency);
  if (mode_of(o) == GroupingMode::none && o.groups > 0)
    throw InputError(place, "groups is {}, but with grouping = \"none\" the placer places units: wanted 0", o.groups);
  HierarchicalSizes sizes;
  sizes.types = setup.op_types.size();
  sizes.devices = common_device_count(setup.problems, "hierarchical");
  const PolicyProblem& smallest = *std::ranges::min_element(
      setup.problems, {}, [](const PolicyProblem& problem) { return problem.grouping.count(); });
  const std::size_t units = smallest.grouping.count();
  if (mode_of(o) == GroupingMode::none) {
    sizes.groups = common_unit_count(setup.problems, "hierarchical");
  } else {
    sizes.groups =
        o.groups > 0 ? static_cast<std::size_t>(o.groups) : std::min({most_groups, 20 * sizes.devices, units});
    // freeze_groups() keeps this number, so that the network is the same for problems with more units.
    if (setup.use == PolicyUse::begin_training) sizes.groups = std::min(sizes.groups, units);
  }
  sizes.has_grouper = mode_of(o) == GroupingMode::learned;
  sizes.shape_slots = static_cast<std::size_t>(o.shape_outputs) * static_cast<std::size_t>(o.shape_dimensions);
  sizes.number_of_outputs = o.number_of_outputs;
  sizes.neighbour_slots = static_cast<std::size_t>(o.adjacency);
  sizes.position_waves = static_cast<std::size_t>(o.position_waves);
  sizes.grouper_gain = o.grouper_gain;
  sizes.order_prior = o.order_prior;
  sizes.type_width = static_cast<std::size_t>(o.type_width);
  sizes.grouper_hidden = static_cast<std::size_t>(o.grouper_hidden);
  sizes.hidden = static_cast<std::size_t>(o.hidden);
  sizes.aligned = o.aligned;
  sizes.squash = o.squash;
  sizes.temperature = o.temperature;
  return sizes;
}

ConfigTable freeze_groups(const ConfigTable& table, const PolicySetup& setup) {
  auto options = read_options<HierarchicalOptions>(table);
  if (mode_of(options) != GroupingMode::none)
    options.groups = static_cast<int>(hierarchical_sizes(options, setup).groups);
  return echo_options(options);
}

}  // namespace emplace::policy
