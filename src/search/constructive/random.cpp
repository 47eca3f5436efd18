// The best of N placements that give each unit one of its devices with equal probability.
#include <algorithm>
#include <limits>

#include "emplace/base/random.hpp"
#include "emplace/search/scorer.hpp"
#include "search/common/deadline.hpp"
#include "search/common/units.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct RandomOptions {
  std::int64_t samples = 1000;
};

void describe(RandomOptions& o, OptionVisitor& visit) {
  visit("samples", o.samples,
        {.min = 1, .help = "Number of placements that are tried if no budget of evaluations or seconds is given."});
}

PlacerResult place_random(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<RandomOptions>(options);
  std::uint64_t wanted = static_cast<std::uint64_t>(o.samples);
  if (request.seconds) wanted = std::numeric_limits<std::uint64_t>::max();
  if (request.evaluations) wanted = *request.evaluations;

  const Units units(*request.problem);
  const auto choices = device_choices(units.grouping);

  const std::uint64_t batch = 2 * evaluations_between_checks(request);
  Scorer scorer(request);
  std::vector<std::uint8_t> of_unit(units.count());
  while (scorer.evaluations() < wanted && !scorer.exhausted()) {
    // The n-th placement depends only on the seed and n, so a larger budget tries the same placements and more.
    std::vector<Placement> candidates;
    for (std::uint64_t n = scorer.evaluations(); n < std::min(wanted, scorer.evaluations() + batch); ++n) {
      Stream random{{.seed = request.seed,
                     .purpose = Purpose::random_placer,
                     .update = n >> 32,
                     .index = static_cast<std::uint32_t>(n)}};
      for (std::size_t unit = 0; unit < units.count(); ++unit)
        of_unit[unit] = choices[unit][random.below(static_cast<std::uint32_t>(choices[unit].size()))];
      candidates.push_back(units.grouping.expand(of_unit));
    }
    scorer.score(std::move(candidates));
  }
  return scorer.result();
}

}  // namespace

PlacerEntry random_placer() {
  PlacerEntry entry;
  entry.name = "random";
  entry.summary = "The best of N uniformly random placements; N is the budget of evaluations.";
  entry.role = PlacerRole::other;
  entry.options = list_options<RandomOptions>;
  entry.place = place_random;
  return entry;
}

}  // namespace emplace::search
