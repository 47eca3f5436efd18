// The human expert's placement, which some problems have (Problem::expert).
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/search/scorer.hpp"
#include "search/common/units.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

PlacerResult place_expert(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Units units(*request.problem);
  const std::vector<std::uint8_t>& expert = request.problem->expert;
  EMPLACE_CHECK(expert.size() == request.problem->op_count());
  Scorer scorer(request);
  scorer.score(units.runnable(expert));
  return scorer.result();
}

}  // namespace

PlacerEntry expert_placer() {
  PlacerEntry entry;
  entry.name = "expert";
  entry.summary = "The human expert's placement of a zoo model, layer by layer over the accelerators.";
  entry.reference = "Mirhoseini et al. 2017; Wu et al. 2016; Lepikhin et al. 2021";
  entry.options = list_options<NoOptions>;
  entry.unfit = [](const PlacerRequest& request) {
    if (!request.problem->expert.empty()) return std::string();
    return "no expert's placement is known of " + quote(request.problem->name) +
           "; zoo models (zoo:NAME@MACHINE) have one, and files of problem/2 may have one";
  };
  entry.place = place_expert;
  return entry;
}

}  // namespace emplace::search
