// Quick placers first; then, with only a budget of seconds, whether placers fit into the rest of it, by their predicted
// times and by how those of the placers so far have compared with the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/portfolio/members.hpp"

namespace emplace::search {

class Fit {
 public:
  Fit(SearchSession& session, const PlacerRequest& request, Roles roles)
      : session_(session), request_(request), roles_(roles) {}

  // Runs the quick placers: all of them in parallel if evaluations are counted. Else those that fit a fifth of the
  // budget, so that the searches begin; in `classic`, and where the other four fifths are too short for a climb to
  // begin, all of it. If several run at a time (`width`), those whose predicted times fit it together, and the others
  // only if none of them found a feasible placement. Else one after the other, those that take least time first; the
  // ones that try several placements get a quarter of the rest, but at least the time for the first of them, and those
  // that take longer than the rest are left out; until a placement is feasible the rest is that of the whole budget.
  void run_quick_placers(std::size_t width);
  // Keeps the entries that can begin within `share` of the rest if each gets an equal part of it, those that begin
  // soonest first. Returns in how many rounds they fit, at most `rounds`.
  std::int64_t keep_fitting(std::vector<PortfolioEntry>& entries, double share, std::int64_t rounds) const;
  // Whether lower bounds can be computed in a quarter of the rest.
  [[nodiscard]] bool has_time_for_bounds() const;

 private:
  static constexpr double margin = 2;  // a search is begun where it has this multiple of its predicted time

  void run_in_parallel(std::size_t width);
  [[nodiscard]] double seconds_for_searches() const;
  void compare(double predicted, double measured);

  SearchSession& session_;
  const PlacerRequest& request_;
  const Roles roles_;
  double predicted_ = 0, measured_ = 0, pace_ = 1;
};

}  // namespace emplace::search
