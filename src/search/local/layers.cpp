// Hill climbing from random placements of large blocks of the model. Where time steps and layers form a grid, as in
// recurrent models, the good placements differ in the devices of whole layers, which no sequence of small moves that
// each shorten the step reaches. A block is moved as quickly as an op, and there are few: a climb from a random
// placement of all layers settles after a few hundred evaluations. Several such starts compete; the best one is then
// improved with smaller and smaller units, each of which stays on one device (multilevel refinement, Walshaw 2004).
#include <algorithm>

#include "emplace/base/random.hpp"
#include "search/common/units.hpp"
#include "search/local/chains.hpp"
#include "search/local/layer_blocks.hpp"
#include "search/local/level_climb.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct LayersOptions {
  std::int64_t starts = 4, blocks = 64;
  ChainOptions chains;
};

void describe(LayersOptions& o, OptionVisitor& visit) {
  visit("starts", o.starts,
        {.min = 1, .max = 10'000, .help = "Number of starts of which the best is improved further."});
  visit("blocks", o.blocks,
        {.min = 2, .max = 1'000'000, .help = "Largest number of blocks that a start puts on random devices."});
  describe(o.chains, visit);
}

class LayerSearch {
 public:
  LayerSearch(const PlacerRequest& request, const LayersOptions& options, const Grouping& units, SearchSession& session)
      : request_(request),
        problem_(*request.problem),
        starts_(static_cast<std::uint64_t>(options.starts)),
        most_blocks_(static_cast<std::size_t>(options.blocks)),
        units_(units),
        layers_(layer_blocks(problem_, units)),
        session_(session),
        climb_(request, session, true) {}

  void run() {
    for (std::uint64_t round = 0; !session_.exhausted(); ++round) {
      LocalSearchResult best;
      for (std::uint64_t start = 0; start < starts_ && !session_.exhausted(); ++start) {
        const std::uint64_t id = round * starts_ + start;
        LocalSearchResult found = refined(first_of(round, start, id), id, 2 * most_blocks_);
        if (start == 0 || better(found.outcome, best.outcome)) best = std::move(found);
      }
      if (!session_.exhausted()) refined(std::move(best), round * starts_, units_.count());
    }
  }

 private:
  static constexpr std::size_t shrink = 4;  // a unit has about as many units of the next finer level

  [[nodiscard]] Stream stream(std::uint64_t id, std::uint32_t index) const {
    return Stream({.seed = request_.seed, .purpose = Purpose::search, .update = id, .index = index});
  }

  // Every other round begins with the best placement so far; else the first and the last start have blocks that are
  // merged by bytes, the others layers if the model names any.
  LocalSearchResult first_of(std::uint64_t round, std::uint64_t start, std::uint64_t id) {
    LocalSearchResult first;
    if (start == 0 && round % 2 == 0) {
      first.placement = session_.placement();
      first.outcome = session_.outcome();
      return first;
    }
    const bool merged = problem_.layer.names.size() < 2 || (round % 2 == 1 && (start == 0 || start + 1 == starts_));
    const Grouping blocks = coarsen_at_random(problem_, merged ? units_ : layers_, most_blocks_, stream(id, 1));
    Stream random = stream(id, 0);
    std::vector<std::uint8_t> device;
    for (const auto& choices : device_choices(blocks))
      device.push_back(choices[random.below(static_cast<std::uint32_t>(choices.size()))]);
    Placement placement = blocks.expand(device);
    placement.order = session_.placement().order;
    return climb_(blocks, placement, request_.seed + id);
  }

  // Climbs from coarse to fine on the levels with at most `most` units.
  LocalSearchResult refined(LocalSearchResult from, std::uint64_t id, std::size_t most) {
    const auto levels = levels_of(units_, most_blocks_, [&](const Grouping& finer) {
      if (session_.exhausted()) return finer;
      const auto level = static_cast<std::uint32_t>(finer.count());  // so that every level has its own random stream
      return coarsen_in_place(problem_, finer, std::max(most_blocks_, finer.count() / shrink), from.placement.device,
                              stream(id, 3 + level));
    });
    for (const Grouping& level : levels) {
      if (session_.exhausted() || (level.count() > most && &level != levels.data())) break;
      from = climb_(level, from.placement, request_.seed + id);
    }
    return from;
  }

  const PlacerRequest& request_;
  const Problem& problem_;
  const std::uint64_t starts_;
  const std::size_t most_blocks_;
  const Grouping& units_;
  const Grouping layers_;
  SearchSession& session_;
  LevelClimb climb_;
};

PlacerResult place_layers(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<LayersOptions>(table);
  return search_in_chains("layers", request, table, options.chains, [&](const Grouping& units, SearchSession& session) {
    LayerSearch(request, options, units, session).run();
  });
}

}  // namespace

PlacerEntry layers_placer() {
  PlacerEntry entry;
  entry.name = "layers";
  entry.summary = "Hill climbing from random placements of whole layers, then with smaller and smaller units.";
  entry.reference = "Walshaw (2004); Marti, Resende, Ribeiro (2013)";
  entry.role = PlacerRole::search;
  entry.options = list_options<LayersOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.from_start = true;
  entry.place = place_layers;
  return entry;
}

}  // namespace emplace::search
