#include "search/pipeline/contiguous_split.hpp"

#include <algorithm>
#include <utility>

#include "emplace/base/error.hpp"
#include "emplace/search/scorer.hpp"
#include "search/methods.hpp"

namespace emplace::search {

ContiguousSplitter::ContiguousSplitter(const PlacerRequest& request, std::string place, SplitClasses classes)
    : request_(request),
      place_(std::move(place)),
      deadline_(request.seconds, request.stop),
      kinds_(device_kinds(*request.problem)),
      classes_(std::move(classes)),
      piece_(*request.problem, kinds_, classes_.of_op, classes_.count(), request.pipeline) {}

std::optional<std::vector<std::uint8_t>> ContiguousSplitter::along_one_order() {
  const std::vector<std::uint32_t> order = depth_first_order(classes_);
  for (const std::size_t blocks : {256, 4096}) bound_by_blocks(order, blocks);
  return solve(prefixes_of(order), {});
}

// Finds the best split with cuts only between blocks of the order, which is quick. Its load is an upper bound for the
// pieces that have to be considered later.
void ContiguousSplitter::bound_by_blocks(const std::vector<std::uint32_t>& order, std::size_t blocks) {
  if (order.size() < 4 * blocks || IdealProgram::most_ideals(kinds_) <= blocks) return;
  const std::size_t length = (order.size() + blocks - 1) / blocks;
  std::vector<std::uint32_t> block_of_class(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) block_of_class[order[i]] = static_cast<std::uint32_t>(i / length);
  std::vector<std::uint32_t> block_of_op, sequence;
  for (const std::uint32_t c : classes_.of_op) block_of_op.push_back(block_of_class[c]);
  for (std::uint32_t block = 0; block * length < order.size(); ++block) sequence.push_back(block);
  PieceLoad piece(*request_.problem, kinds_, block_of_op, sequence.size(), request_.pipeline);
  const Ideals prefixes = prefixes_of(sequence);
  IdealProgram program(prefixes, kinds_, piece, [&] { return deadline_.passed(); });
  if (const auto split = least_load(program, request_.pipeline, most_)) most_ = split->load + split->forward_load;
}

bool ContiguousSplitter::find_ideals(std::size_t most) {
  ideals_ = enumerate_ideals(classes_.before, classes_.after, std::min(most, most_ideals_in_memory()),
                             [&] { return deadline_.passed(); });
  stopped_ = stopped_ || (!ideals_ && deadline_.passed());
  return ideals_.has_value();
}

std::optional<std::vector<std::uint8_t>> ContiguousSplitter::over_ideals() {
  EMPLACE_CHECK(ideals_.has_value());
  return solve(*ideals_, kind_weights(*request_.problem, kinds_, classes_.of_op, classes_.count(), deadline_));
}

std::optional<std::vector<std::uint8_t>> ContiguousSplitter::solve(const Ideals& ideals,
                                                                   const std::vector<std::int64_t>& weights) {
  if (ideals.count() > IdealProgram::most_ideals(kinds_))
    throw InputError(place_, "{} kinds of devices and {} classes of ops are too many for a dynamic program",
                     kinds_.size(), classes_.count());
  const auto stop = [this] { return deadline_.passed(); };
  IdealProgram program(ideals, kinds_, piece_, stop, weights);
  const auto split = least_load(program, request_.pipeline, most_);
  stopped_ = stopped_ || program.stopped();
  if (!split) return std::nullopt;
  most_ = split->load + split->forward_load;
  std::vector<std::uint8_t> devices;
  for (const std::uint32_t c : classes_.of_op) devices.push_back(split->device_of_class[c]);
  return devices;
}

PlacerResult scored_split(const PlacerRequest& request, const std::vector<std::uint8_t>& devices,
                          const std::string& note) {
  Scorer scorer(request);
  scorer.score(Placement{devices, {}});
  PlacerResult result = scorer.result();
  result.note = note;
  return result;
}

PlacerResult place_along_one_order(const PlacerRequest& request, ContiguousSplitter& splitter) {
  const auto split = splitter.along_one_order();
  if (split) return scored_split(request, *split, splitter.stopped() ? "the budget of seconds ended first" : "");
  return on_best_device(request, splitter.stopped() ? "the budget of seconds ended first"
                                                    : "no split along the depth-first order is feasible");
}

PlacerResult on_best_device(const PlacerRequest& request, const std::string& why) {
  PlacerResult result = single_placer().place(request, ConfigTable{});
  result.note = why + "; this is everything on the best device";
  return result;
}

}  // namespace emplace::search
