// What a trainer saves in a checkpoint and reads from it.
#include "learn/trainer.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "emplace/base/error.hpp"

namespace emplace::learn {

namespace {

constexpr std::uint64_t most_updates = std::uint64_t{1} << 53;

std::string prefix_of_best(std::size_t problem) { return fmt::format("best.{}.", problem); }
std::string prefix_of_demonstration(std::size_t problem, std::size_t index) {
  return fmt::format("demonstration.{}.{}.", problem, index);
}

void put_placement(State& state, const std::string& at, const Best& best) {
  put(state, at + "device", best.placement.device);
  if (!best.placement.order.empty())
    put(state, at + "order", std::vector<std::int64_t>(best.placement.order.begin(), best.placement.order.end()));
  put(state, at + "outcome",
      std::vector<std::int64_t>{best.outcome.makespan, best.outcome.overflow,
                                static_cast<std::int64_t>(best.outcome.why), best.outcome.device,
                                best.outcome.subject});
  put_scalar(state, at + "evaluation", best.evaluation);
}

// A placement as put_placement() wrote it; none if there is none.
Best saved_placement(const State& state, const std::string& at);

}  // namespace

State Trainer::save() const {
  State state;
  put_scalar(state, "updates", updates_);
  put_scalar(state, "evaluations", evaluations_);
  if (options_.polish.samples > 0) put_scalar(state, "polish_credit", credit_);
  if (store_) store_->save(state);
  for (std::size_t p = 0; p < best_.size(); ++p) {
    if (best_[p].any) put_placement(state, prefix_of_best(p), best_[p]);
    for (std::size_t i = 0; i < demonstrations_[p].size(); ++i)
      put_placement(state, prefix_of_demonstration(p, i), demonstrations_[p][i]);
  }
  return state;
}

void Trainer::load(const State& state) {
  updates_ = get_scalar<std::uint64_t>(state, "updates");
  if (updates_ > most_updates) throw InputError("checkpoint", "array updates is {}, wanted up to 2^53", updates_);
  evaluations_ = get_scalar<std::uint64_t>(state, "evaluations");
  if (options_.polish.samples > 0) credit_ = get_scalar<double>(state, "polish_credit");
  if (!std::isfinite(credit_)) throw InputError("checkpoint", "array polish_credit is {}", credit_);
  if (store_) store_->load(state, updates_);
  for (std::size_t p = 0; p < best_.size(); ++p) {
    const auto check = [&](const Best& best, const std::string& at) {
      check_placement(*problems_[p].problem, best.placement, "checkpoint");
      if (best.evaluation == 0 || best.evaluation > evaluations_)
        throw InputError("checkpoint", "array {}evaluation is {}, but there were {} evaluations", at, best.evaluation,
                         evaluations_);
    };
    best_[p] = saved_best(state, p);
    if (best_[p].any) check(best_[p], prefix_of_best(p));
    demonstrations_[p].clear();
    for (std::string at = prefix_of_demonstration(p, 0); state.contains(at + "device");
         at = prefix_of_demonstration(p, demonstrations_[p].size())) {
      demonstrations_[p].push_back(saved_placement(state, at));
      check(demonstrations_[p].back(), at);
    }
  }
}

Best saved_best(const State& state, std::size_t problem) { return saved_placement(state, prefix_of_best(problem)); }

namespace {

Best saved_placement(const State& state, const std::string& at) {
  if (!state.contains(at + "device")) return {};
  Best best;
  best.any = true;
  best.placement.device = get<std::uint8_t>(state, at + "device");
  if (state.contains(at + "order"))
    for (const std::int64_t op : get<std::int64_t>(state, at + "order")) {
      if (op < 0 || op > std::numeric_limits<std::uint32_t>::max())
        throw InputError("checkpoint", "array {}order names op {}", at, op);
      best.placement.order.push_back(static_cast<std::uint32_t>(op));
    }
  const auto& outcome = get<std::int64_t>(state, at + "outcome", 5);
  if (outcome[2] < 0 || outcome[2] > static_cast<std::int64_t>(Infeasible::too_many_cuts))
    throw InputError("checkpoint", "array {}outcome has the unknown reason {}", at, outcome[2]);
  const bool feasible = outcome[2] == 0;
  if (outcome[0] < (feasible ? 0 : Outcome::unknown) || outcome[1] < 0 || (feasible && outcome[1] > 0))
    throw InputError("checkpoint", "array {}outcome has the time {} and the overflow {}, which no outcome has", at,
                     outcome[0], outcome[1]);
  best.outcome = {outcome[0], outcome[1], static_cast<Infeasible>(outcome[2]), static_cast<std::uint8_t>(outcome[3]),
                  static_cast<std::uint32_t>(outcome[4])};
  best.evaluation = get_scalar<std::uint64_t>(state, at + "evaluation");
  return best;
}

}  // namespace

}  // namespace emplace::learn
