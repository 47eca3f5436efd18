// m-SCT (Baechi, section 3.3): earliest task first, but a device is kept free for the favourite consumer of the op that
// it ran last.
#include "search/common/predicted_time.hpp"
#include "search/list/earliest_task.hpp"
#include "search/list/favourite_children.hpp"
#include "search/list/partial_schedule.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct MSctOptions {
  std::int64_t most_edges = most_edges_of_program;
};

void describe(MSctOptions& o, OptionVisitor& visit) {
  visit("most_edges", o.most_edges,
        {.min = 0,
         .max = 10'000'000,
         .help = "Up to this number of edges favourites come from a linear program, above it from transfer costs."});
}

PlacerResult place_m_sct(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<MSctOptions>(table);
  const Deadline deadline(request.seconds, request.stop);
  const Problem& problem = *request.problem;
  const Favourites favourites =
      favourite_children(problem, MeanCosts(problem), static_cast<std::size_t>(options.most_edges));
  PlacerResult result = place_by_list(request, deadline, all_outputs_first,
                                      [&](const Units& units, MemoryView view, const Deadline& end) {
                                        return earliest_task_first(problem, units, view, end, favourites.consumer);
                                      });
  if (!favourites.relaxed && result.note.empty())
    result.note = "favourites were chosen by the costliest transfers, because there are more than most_edges edges";
  return result;
}

}  // namespace

PlacerEntry m_sct_placer() {
  PlacerEntry entry;
  entry.name = "m-sct";
  entry.summary = "Earliest task first; devices are kept for favourite consumers.";
  entry.reference = "Jeon et al., Baechi (2020); Hanen, Munier (1995)";
  entry.options = list_options<MSctOptions>;
  entry.place = place_m_sct;
  return entry;
}

}  // namespace emplace::search
