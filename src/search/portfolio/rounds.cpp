#include "search/portfolio/rounds.hpp"

#include <algorithm>

#include "search/local/chains.hpp"

namespace emplace::search {

namespace {

// The searches that gained at least a quarter of what the best of them gained in these steps; all if none gained.
std::vector<PortfolioEntry> those_that_helped(std::span<const PlacerStep> steps,
                                              const std::vector<PortfolioEntry>& searches) {
  constexpr Ticks part = 4;
  Ticks most = 0;
  for (const PlacerStep& step : steps) most = std::max(most, step.gained);
  std::vector<PortfolioEntry> helped;
  for (const PortfolioEntry& entry : searches)
    if (std::ranges::any_of(
            steps, [&](const PlacerStep& step) { return step.method == entry.method && step.gained >= most / part; }))
      helped.push_back(entry);
  return helped;
}

}  // namespace

void run_entries(SearchSession& session, std::span<const PortfolioEntry> entries, std::size_t width, double share) {
  const std::size_t batches = (entries.size() + width - 1) / width;
  for (std::size_t b = 0; b < batches && !session.result().proved_optimal; ++b) {
    const std::size_t begin = b * width;
    const auto batch = entries.subspan(begin, std::min(width, entries.size() - begin));
    const double rest = 1 - share * static_cast<double>(b) / static_cast<double>(batches);
    session.try_placers(batch, share / static_cast<double>(batches) / rest);
  }
}

void run_rounds(SearchSession& session, std::vector<PortfolioEntry> first, std::vector<PortfolioEntry> searches,
                std::size_t width, std::int64_t rounds, std::uint64_t seed) {
  if (searches.empty()) return run_entries(session, first, width, 1);
  std::vector<PortfolioEntry> entries = std::move(first);
  std::vector<PortfolioEntry> running = searches;
  for (std::int64_t round = 0; round < rounds && !running.empty(); ++round) {
    // As many seeds of each search as are needed to use all workers.
    for (std::size_t i = 0; i < std::max(width, running.size()); ++i) {
      entries.push_back(running[i % running.size()]);
      entries.back().seed = seed_of_chain(seed, static_cast<std::size_t>(round) * width + i / running.size());
    }
    const std::size_t before = session.result().steps.size();
    run_entries(session, entries, width, 1 / static_cast<double>(rounds - round));
    if (session.exhausted() || session.result().proved_optimal) break;
    entries.clear();
    running = those_that_helped(std::span(session.result().steps).subspan(before), searches);
  }
}

}  // namespace emplace::search
