#include "search/partition/partition.hpp"

#include <algorithm>

#include "emplace/base/random.hpp"
#include "emplace/search/scorer.hpp"
#include "search/common/deadline.hpp"

namespace emplace::search {

namespace {

std::vector<std::uint32_t> on_the_fastest(const Units& units, const Processors& processors) {
  const auto fastest = std::ranges::max_element(processors.speed) - processors.speed.begin();
  return std::vector<std::uint32_t>(units.count(), static_cast<std::uint32_t>(fastest));
}

void set_equal_distances(Processors& processors) {
  for (std::size_t a = 0; a < processors.count(); ++a)
    for (std::size_t b = 0; b < processors.count(); ++b)
      processors.distance[a * processors.count() + b] = a == b ? 0 : 1;
}

// Removes all costs: all ops, edges and devices get equal weights.
void forget_costs(const Units& units, UnitGraph& graph, Processors& processors) {
  std::ranges::fill(graph.weight, 1.0);
  for (std::size_t unit = 0; unit < units.count(); ++unit)
    processors.work[unit] = static_cast<double>(units.grouping.members[unit].size());
  std::ranges::fill(processors.speed, 1.0);
  set_equal_distances(processors);
}

}  // namespace

void describe(PartitionOptions& o, OptionVisitor& visit) {
  visit("knows", o.knows,
        {.choices = {"costs", "flow", "graph"},
         .help = "Input of the partitioner: the costs of ops and transfers on each device; the costs of ops and the "
                 "bytes of tensors, not how long it takes to send them; or the graph alone, in which all ops, edges "
                 "and devices have equal weights."});
}

PlacerResult place_by_partition(const PlacerRequest& request, const PartitionOptions& options,
                                std::span<const std::uint8_t> usable, std::span<const double> imbalances,
                                const Partitioner& partition) {
  const Problem& problem = *request.problem;
  const Deadline deadline(request.seconds, request.stop);
  const Units units(problem);
  UnitGraph graph =
      make_unit_graph(problem, units.grouping, options.knows == "flow" ? EdgeWeight::bytes : EdgeWeight::time);
  Processors processors = make_processors(problem, units, usable);
  if (options.knows == "graph") forget_costs(units, graph, processors);
  if (options.knows == "flow") set_equal_distances(processors);
  if (options.knows != "costs") imbalances = imbalances.first(1);
  Scorer scorer(request);
  std::vector<std::vector<std::uint8_t>> tried;
  double longest = 0;  // seconds; with less time left, no further partition is begun, because it cannot be stopped
  for (std::size_t attempt = 0; attempt < imbalances.size() && !scorer.exhausted(); ++attempt) {
    if (attempt > 0 && longest > deadline.left()) break;
    const double began = deadline.elapsed();
    const std::uint64_t seed = Stream({.seed = request.seed,
                                       .purpose = Purpose::search,
                                       .update = 0,
                                       .index = static_cast<std::uint32_t>(attempt)})
                                   .bits64();
    const bool trivial = processors.count() < 2 || units.count() < 2;
    const auto part =
        trivial ? on_the_fastest(units, processors) : partition(units, graph, processors, imbalances[attempt], seed);
    auto of_unit = settle(units, processors, part);
    longest = std::max(longest, deadline.elapsed() - began);
    if (std::ranges::find(tried, of_unit) != tried.end()) continue;
    scorer.score(units.grouping.expand(of_unit));
    tried.push_back(std::move(of_unit));
  }
  return scorer.result();
}

}  // namespace emplace::search
