// The local search of Tarnawski et al. 2020: from random splits over the accelerators, always the best move of one
// class (docs/papers/tarnawski.md, section 2.8). It ignores memory limits, and CPUs where an accelerator can run the
// class.
#include <algorithm>

#include "emplace/base/random.hpp"
#include "emplace/search/scorer.hpp"
#include "search/common/deadline.hpp"
#include "search/common/units.hpp"
#include "search/methods.hpp"
#include "search/pipeline/contiguous_split.hpp"
#include "search/pipeline/piece_load.hpp"
#include "search/pipeline/split_classes.hpp"

namespace emplace::search {

namespace {

struct DescentOptions {
  std::int64_t restarts = 10;
};

void describe(DescentOptions& o, OptionVisitor& visit) {
  visit("restarts", o.restarts,
        {.min = 1, .max = 1'000'000, .help = "Number of random splits from which the search begins."});
}

class SteepestDescent {
 public:
  explicit SteepestDescent(const PlacerRequest& request)
      : request_(request),
        deadline_(request.seconds, request.stop),
        kinds_(device_kinds(*request.problem)),
        classes_(split_classes(*request.problem, false)),
        empty_(*request.problem, kinds_, classes_.of_op, classes_.count(), request.pipeline),
        kind_of_(request.problem->device_count()) {
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      for (const std::uint8_t d : kinds_[k].devices) kind_of_[d] = k;
    const std::vector<std::uint8_t> is_accelerator = accelerators(*request.problem);
    for (std::uint32_t c = 0; c < classes_.count(); ++c) {
      std::vector<std::uint8_t> choices;
      std::optional<std::uint8_t> fastest;
      for (std::size_t d = 0; d < kind_of_.size(); ++d) {
        const Ticks time = empty_.time(c, kind_of_[d]);
        if (time == cannot_run) continue;
        if (is_accelerator[d] != 0) choices.push_back(static_cast<std::uint8_t>(d));
        if (!fastest || time < empty_.time(c, kind_of_[*fastest])) fastest = static_cast<std::uint8_t>(d);
      }
      if (choices.empty() && fastest) choices.push_back(*fastest);
      choices_.push_back(std::move(choices));
    }
  }

  // Whether some device can run each class as a whole.
  [[nodiscard]] bool possible() const {
    return std::ranges::none_of(choices_, [](const auto& choices) { return choices.empty(); });
  }

  // N: the device of each op in the best split of all restarts.
  std::vector<std::uint8_t> run(std::int64_t restarts) {
    std::vector<std::uint8_t> best;
    Ticks least = 0;
    for (std::int64_t restart = 0; restart < restarts && (best.empty() || !over()); ++restart) {
      begin(static_cast<std::uint64_t>(restart));
      while (move()) {
      }
      if (best.empty() || value() < least) least = value(), best = device_;
    }
    std::vector<std::uint8_t> of_op;
    for (const std::uint32_t c : classes_.of_op) of_op.push_back(best[c]);
    return of_op;
  }
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  [[nodiscard]] bool ended_early() const { return ended_early_; }

 private:
  static constexpr Ticks least_gain = 10'000;  // 1e-5 ms, in the unit of the published files

  // The last evaluation of a budget is that of the result.
  bool over() {
    ended_early_ = ended_early_ || deadline_.passed() ||
                   (request_.evaluations && evaluations_ + kind_of_.size() > *request_.evaluations);
    return ended_early_;
  }

  void begin(std::uint64_t restart) {
    Stream random{{.seed = request_.seed, .purpose = Purpose::search, .update = restart}};
    pieces_.clear();
    for (std::size_t d = 0; d < kind_of_.size(); ++d) pieces_.push_back(empty_);
    device_.clear();
    for (std::uint32_t c = 0; c < classes_.count(); ++c) {
      device_.push_back(choices_[c][random.below(static_cast<std::uint32_t>(choices_[c].size()))]);
      pieces_[device_[c]].add(c);
    }
  }

  // The objective, without the limits of memory.
  [[nodiscard]] Ticks value() const {
    Ticks load = 0, forward = 0;
    for (std::size_t d = 0; d < pieces_.size(); ++d) {
      load = std::max(load, pieces_[d].load(kind_of_[d]));
      forward = std::max(forward, pieces_[d].forward_load(kind_of_[d]));
    }
    return load + forward;
  }

  // Makes the best move of all classes and devices, the first of equals. False if it gains too little or the budget is
  // over.
  bool move() {
    const Ticks now = value();
    std::optional<Ticks> least;
    std::uint32_t moved = 0;
    std::uint8_t target = 0;
    for (std::uint32_t c = 0; c < classes_.count(); ++c) {
      if (over()) return false;
      pieces_[device_[c]].remove(c);
      for (const std::uint8_t d : choices_[c]) {
        if (d == device_[c]) continue;
        pieces_[d].add(c);
        ++evaluations_;
        if (const Ticks then = value(); !least || then < *least) least = then, moved = c, target = d;
        pieces_[d].remove(c);
      }
      pieces_[device_[c]].add(c);
    }
    if (!least || *least > now - least_gain) return false;
    pieces_[device_[moved]].remove(moved);
    pieces_[target].add(moved);
    device_[moved] = target;
    return true;
  }

  const PlacerRequest& request_;
  const Deadline deadline_;
  const std::vector<DeviceKind> kinds_;
  const SplitClasses classes_;
  const PieceLoad empty_;
  std::vector<std::size_t> kind_of_;                // D
  std::vector<std::vector<std::uint8_t>> choices_;  // by class: devices
  std::vector<PieceLoad> pieces_;                   // D
  std::vector<std::uint8_t> device_;                // by class
  std::uint64_t evaluations_ = 0;
  bool ended_early_ = false;
};

PlacerResult place_steepest_descent(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<DescentOptions>(options);
  SteepestDescent search(request);
  if (!search.possible()) return on_best_device(request, "no device can run a class of ops that stay together");
  const std::vector<std::uint8_t> split = search.run(o.restarts);
  PlacerResult result = scored_split(request, split, search.ended_early() ? "the budget ended first" : "");
  result.evaluations += search.evaluations();
  return result;
}

}  // namespace

PlacerEntry steepest_descent_placer() {
  PlacerEntry entry;
  entry.name = "steepest-descent";
  entry.summary =
      "From random splits over the accelerators, the best move of one class until none helps; ignores memory.";
  entry.reference = "Tarnawski et al. 2020, local search";
  entry.only_for = Objective::pipeline;
  entry.role = PlacerRole::other;
  entry.own_engine = true;
  entry.options = list_options<DescentOptions>;
  entry.place = place_steepest_descent;
  return entry;
}

}  // namespace emplace::search
