// Hill climbing on one level of units as a part of a search: spends the session's budget and offers what it finds.
#pragma once

#include <cstdint>

#include "emplace/problem/grouping.hpp"
#include "search/common/search_session.hpp"
#include "search/local/local_search.hpp"

namespace emplace::search {

class LevelClimb {
 public:
  LevelClimb(const PlacerRequest& request, SearchSession& session, bool guided)
      : request_(request), session_(session), guided_(guided) {}

  // The session must not be exhausted.
  LocalSearchResult operator()(const Grouping& level, const Placement& from, std::uint64_t seed) {
    LocalSearchResult found =
        local_search(*request_.problem, level, request_.schedule, from,
                     {seed, session_.evaluations_left(), session_.seconds_left(), request_.stop, guided_});
    session_.searched(made_ += found.guesses + found.checks);
    session_.offer(found.placement, found.outcome);
    return found;
  }

 private:
  const PlacerRequest& request_;
  SearchSession& session_;
  const bool guided_;
  std::uint64_t made_ = 0;
};

}  // namespace emplace::search
