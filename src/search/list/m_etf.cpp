// m-ETF (Baechi, section 3.2): earliest task first, on devices that have memory left.
#include "search/list/earliest_task.hpp"
#include "search/list/partial_schedule.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

PlacerResult place_m_etf(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Deadline deadline(request.seconds, request.stop);
  return place_by_list(request, deadline, all_outputs_first,
                       [&](const Units& units, MemoryView view, const Deadline& end) {
                         return earliest_task_first(*request.problem, units, view, end);
                       });
}

}  // namespace

PlacerEntry m_etf_placer() {
  PlacerEntry entry;
  entry.name = "m-etf";
  entry.summary = "Earliest task first, on devices that have memory left.";
  entry.reference = "Jeon et al., Baechi (2020)";
  entry.options = list_options<NoOptions>;
  entry.place = place_m_etf;
  return entry;
}

}  // namespace emplace::search
