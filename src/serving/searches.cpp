// The searches as placers.
#include <algorithm>

#include "serving/chains.hpp"
#include "serving/interval_search.hpp"
#include "serving/methods.hpp"
#include "serving/stage_search.hpp"

namespace emplace::serving {

namespace {

struct StagesOptions {
  std::int64_t moves = 30'000;
};
void describe(StagesOptions& o, OptionVisitor& visit) {
  visit("moves", o.moves, {.min = 100, .max = 1e9, .help = "Changes of one annealing, before the next begins."});
}

struct IntervalsOptions {
  std::int64_t moves = 20'000;
  double temperature = 0.03;
};
void describe(IntervalsOptions& o, OptionVisitor& visit) {
  visit("moves", o.moves, {.min = 100, .max = 1e9, .help = "Layouts of one annealing, before the next begins."});
  visit("temperature", o.temperature,
        {.min = 1e-6, .max = 10, .help = "The relative loss of throughput that is often accepted at first."});
}

ChainResult search_stages(Chain& chain, const StagesOptions& options) {
  const Cluster& cluster = *chain.request.cluster;
  StageSearch search(cluster, chain.flow, chain.request.enough, chain.stream);
  if (chain.request.start != nullptr) search.learn(*chain.request.start, chain.flow.throughput(*chain.request.start));
  search.start(single_chain(cluster));
  // How far above the best the wanted rate is: near steps find small gains, far ones leave what is good but a dead end.
  constexpr double aspirations[] = {0, 0.05, 0.2, 0.5};
  std::uint64_t tried = 0;
  for (std::uint64_t round = 0; tried < chain.evaluations && !chain.ended(); ++round) {
    const std::uint64_t moves =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(options.moves), chain.evaluations - tried);
    const std::uint64_t done = search.anneal(moves, aspirations[round % std::size(aspirations)], chain.ended);
    tried += std::max<std::uint64_t>(done, 1);
    if (chain.request.enough > 0 && search.best_rate() >= chain.request.enough) break;
    if (round % 3 == 2) search.start(stages_of(cluster, search.best()));
  }
  return {search.best(), search.best_rate(), tried};
}

ChainResult search_intervals(Chain& chain, const IntervalsOptions& options) {
  const Cluster& cluster = *chain.request.cluster;
  IntervalSearch search(cluster, chain.flow, chain.request.enough, chain.stream);
  const Layout plain = layout_of(cluster, single_chain(cluster));
  search.start(chain.request.start != nullptr ? *chain.request.start : plain);
  // Hotter ones now and then: in a small cluster every change is a large one.
  constexpr double heats[] = {1, 1, 3, 10};
  std::uint64_t tried = 1;
  for (std::uint64_t round = 0; tried < chain.evaluations && !chain.ended(); ++round) {
    const std::uint64_t moves =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(options.moves), chain.evaluations - tried);
    const double hot = options.temperature * heats[round % std::size(heats)];
    const std::uint64_t done = search.anneal(moves, hot, options.temperature / 30, chain.ended);
    if (done == 0 || (chain.request.enough > 0 && search.best_rate() >= chain.request.enough)) break;
    tried += done;
    // Now and then from a chain, as what is best so far may be far from anything better.
    search.start(round % 8 == 6 ? plain : search.best());
  }
  return {search.best(), search.best_rate(), tried};
}

template <class Options, ChainResult (*search)(Chain& chain, const Options& options)>
void set_search(PlacerEntry& entry, std::uint64_t method) {
  entry.quick = false;
  entry.options = list_options<Options>;
  entry.place = [method](const Request& request, const ConfigTable& table) {
    const Options options = read_options<Options>(table);
    return run_chains(request, method, [&](Chain& chain) { return search(chain, options); });
  };
}

}  // namespace

PlacerEntry stages_placer() {
  PlacerEntry entry;
  entry.name = "stages";
  entry.summary = "Simulated annealing over stages, in each of which all nodes hold the same layers.";
  set_search<StagesOptions, search_stages>(entry, 1);
  return entry;
}

PlacerEntry intervals_placer() {
  PlacerEntry entry;
  entry.name = "intervals";
  entry.summary = "Simulated annealing over any intervals, judged by the flow.";
  set_search<IntervalsOptions, search_intervals>(entry, 2);
  return entry;
}

}  // namespace emplace::serving
