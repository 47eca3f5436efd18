#include "contiguous_split.hpp"

#include <utility>

#include "emplace/base/error.hpp"

namespace emplace {

ContiguousSplitter::ContiguousSplitter(const PlacerRequest& request, std::string place, bool merge_idle)
    : request_(request),
      place_(std::move(place)),
      deadline_(request.seconds),
      kinds_(device_kinds(*request.problem)),
      classes_(split_classes(*request.problem, merge_idle)),
      piece_(*request.problem, kinds_, classes_, request.pipeline) {}

std::optional<std::vector<std::uint8_t>> ContiguousSplitter::along_one_order() {
  return solve(prefixes_of(depth_first_order(classes_)));
}

std::optional<std::vector<std::uint8_t>> ContiguousSplitter::over_ideals(std::size_t most_ideals) {
  const std::size_t limit = std::min(most_ideals, IdealProgram::most_ideals(kinds_));
  const auto ideals = enumerate_ideals(classes_.before, classes_.after, limit, [&] { return deadline_.passed(); });
  if (ideals) return solve(*ideals);
  stopped_ = deadline_.passed();
  if (stopped_) return std::nullopt;
  throw InputError(place_, "the {} classes of ops have more than {} ideals ({}); dpl looks at one order only",
                   classes_.count(), limit,
                   limit < most_ideals ? "what 2 GiB of memory hold for these devices" : "ideals= sets the limit");
}

std::optional<std::vector<std::uint8_t>> ContiguousSplitter::solve(const Ideals& ideals) {
  if (ideals.count() > IdealProgram::most_ideals(kinds_))
    throw InputError(place_, "{} kinds of devices and {} classes of ops are too many for a dynamic program",
                     kinds_.size(), classes_.count());
  IdealProgram program(ideals, kinds_, piece_, [&] { return deadline_.passed(); });
  const auto split = least_load(program, request_.pipeline, most_);
  stopped_ = stopped_ || program.stopped();
  if (!split) return std::nullopt;
  most_ = split->load + split->forward_load;
  std::vector<std::uint8_t> devices;
  for (const std::uint32_t c : classes_.of_op) devices.push_back(split->device_of_class[c]);
  return devices;
}

}  // namespace emplace
