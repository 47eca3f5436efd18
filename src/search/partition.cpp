#include "partition.hpp"

#include <algorithm>

#include "emplace/base/random.hpp"
#include "scorer.hpp"

namespace emplace {

namespace {

std::vector<std::uint32_t> on_the_fastest(const Units& units, const Processors& processors) {
  const auto fastest = std::ranges::max_element(processors.speed) - processors.speed.begin();
  return std::vector<std::uint32_t>(units.count(), static_cast<std::uint32_t>(fastest));
}

}  // namespace

PlacerResult place_by_partition(const PlacerRequest& request, std::span<const std::uint8_t> usable,
                                std::span<const double> imbalances, const Partitioner& partition) {
  const Problem& problem = *request.problem;
  const Units units(problem);
  const UnitGraph graph = make_unit_graph(problem, units.grouping);
  const Processors processors = make_processors(problem, units, usable);
  Scorer scorer(request);
  std::vector<std::vector<std::uint8_t>> tried;
  for (std::size_t attempt = 0; attempt < imbalances.size() && !scorer.exhausted(); ++attempt) {
    const std::uint64_t seed = Stream({.seed = request.seed,
                                       .purpose = Purpose::search,
                                       .update = 0,
                                       .index = static_cast<std::uint32_t>(attempt)})
                                   .bits64();
    const bool trivial = processors.count() < 2 || units.count() < 2;
    const auto part =
        trivial ? on_the_fastest(units, processors) : partition(units, graph, processors, imbalances[attempt], seed);
    auto of_unit = settle(units, processors, part);
    if (std::ranges::find(tried, of_unit) != tried.end()) continue;
    scorer.score(units.grouping.expand(of_unit));
    tried.push_back(std::move(of_unit));
  }
  return scorer.result();
}

}  // namespace emplace
