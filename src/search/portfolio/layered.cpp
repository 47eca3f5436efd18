// The searches of `best` on units that lie within layers of the model (the kind `layers` of problem/grouping). In a
// model whose layers repeat over time or depth, a good placement gives each layer, or each layer's steps in a row, to
// one device; with units of such ops a search finds it in a few thousand moves, while moves of single ops pass through
// placements that are worse.
#include "emplace/problem/grouping.hpp"
#include "search/methods.hpp"
#include "search/portfolio/inner_search.hpp"

namespace emplace::search {

namespace {

constexpr std::size_t default_units = 400;
// With fewer times as many units as the problem has groups of ops that stay together, moves of these are as good.
constexpr std::size_t least_merging = 4;

struct LayeredOptions : InnerOptions {
  std::int64_t units = default_units;
};

void describe(LayeredOptions& o, OptionVisitor& visit) {
  visit("units", o.units, {.min = 1, .max = 100'000, .help = "Number of units, or fewer if the model has fewer ops."});
  describe(static_cast<InnerOptions&>(o), visit);
}

PlacerResult place_layered(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<LayeredOptions>(table);
  const auto through = [&](const Placement& start, const InnerSearch& search) {
    const Problem& problem = *request.problem;
    const auto units = static_cast<std::size_t>(options.units);
    return search(with_groups(problem, make_grouping(problem, GroupingKind::layers, units, table.place())), start);
  };
  return place_inside(request, layered_search, options, table.place(), through);
}

// Where `contracted` pays too, `best` leaves this one out (by_gain.cpp).
bool units_pay(const PlacerRequest& request) {
  return make_grouping(*request.problem, GroupingKind::colocation).count() >= least_merging * default_units;
}

}  // namespace

PlacerEntry layered_placer() {
  PlacerEntry entry;
  entry.name = std::string(layered_search);
  entry.summary = "The searches of best on units of ops that lie within layers of the model.";
  entry.reference = "Walshaw (2004)";
  entry.role = PlacerRole::search;
  entry.options = list_options<LayeredOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.from_start = true;
  entry.pays = units_pay;
  entry.place = place_layered;
  return entry;
}

}  // namespace emplace::search
