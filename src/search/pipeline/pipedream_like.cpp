// The PipeDream-like baseline of Tarnawski et al. 2020: parallel branches are merged into blocks, and the blocks are
// split along one order (docs/papers/tarnawski.md, section 2.8).
#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "search/methods.hpp"
#include "search/pipeline/contiguous_split.hpp"

namespace emplace::search {

namespace {

struct BlockOptions {
  std::vector<std::string> ignore;
};

void describe(BlockOptions& o, OptionVisitor& visit) {
  visit("ignore", o.ignore,
        {.help = "Names of ops whose outputs join no branches, such as inputs that every layer reads."});
}

std::vector<OpId> ops_of_names(const Problem& problem, const std::vector<std::string>& names,
                               const std::string& place) {
  std::vector<OpId> ops;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(problem.op_names, name);
    if (found == problem.op_names.end())
      throw InputError(place, "there is no op {}{}", quote(name), did_you_mean(name, problem.op_names));
    ops.emplace_back(static_cast<std::size_t>(found - problem.op_names.begin()));
  }
  return ops;
}

PlacerResult place_pipedream_like(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<BlockOptions>(options);
  const Problem& problem = *request.problem;
  const std::vector<OpId> ignored = ops_of_names(problem, o.ignore, options.place());
  ContiguousSplitter splitter(request, options.place(), block_classes(problem, ignored, true));
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
  entry.options = list_options<BlockOptions>;
  entry.place = place_pipedream_like;
  return entry;
}

}  // namespace emplace::search
