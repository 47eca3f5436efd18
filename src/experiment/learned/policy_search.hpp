// The policy's part of the placer `learned`: its placements, improved by local search.
#pragma once

#include <cstdint>

#include "emplace/search/placer.hpp"
#include "experiment/run/trained_policy.hpp"
#include "search/common/search_session.hpp"

namespace emplace::experiment {

struct LearnedOptions {
  std::int64_t rounds = 0, draws = 32, width = 4, fit_steps = 20, moves_per_unit = 200;
  double learning_rate = 0.001;
};
void describe(LearnedOptions& options, OptionVisitor& visit);

// Spends the session's budget, which must not be exhausted, in rounds: draws of the policy, the best of them improved
// on the policy's units, a climb from the best placement so far, and a fine-tuning of the policy on what was found, so
// that the next round draws near it. The first round draws zero-shot; a short budget has no other.
void search_by_policy(const search::PlacerRequest& request, const LearnedOptions& options, const TrainedPolicy& trained,
                      search::SearchSession& session);

}  // namespace emplace::experiment
