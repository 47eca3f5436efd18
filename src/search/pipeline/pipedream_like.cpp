// The PipeDream-like baseline of Tarnawski et al. 2020: parallel branches are merged into blocks, and the blocks are
// split along one order (docs/papers/tarnawski.md, section 2.8).
#include "search/methods.hpp"
#include "search/pipeline/contiguous_split.hpp"

namespace emplace::search {

namespace {

PlacerResult place_pipedream_like(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  ContiguousSplitter splitter(request, options.place(), block_classes(*request.problem, true));
  return place_along_one_order(request, splitter);
}

}  // namespace

PlacerEntry pipedream_like_placer() {
  PlacerEntry entry;
  entry.name = "pipedream-like";
  entry.summary = "dpl on a coarser graph: branches that part and meet again are not separated.";
  entry.reference = "Tarnawski et al. 2020, after PipeDream";
  entry.only_for = Objective::pipeline;
  entry.role = PlacerRole::other;
  entry.options = list_options<NoOptions>;
  entry.place = place_pipedream_like;
  return entry;
}

}  // namespace emplace::search
