// The budget of a search on one Neighbourhood, which reads the clock only now and then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "search/common/deadline.hpp"
#include "search/local/neighbourhood.hpp"

namespace emplace::search {

// The neighbourhood must outlive it.
class MoveBudget {
 public:
  // A guess counts as much as a check. `stop` is called now and then; true ends the search.
  MoveBudget(const Neighbourhood& neighbourhood, std::optional<std::uint64_t> evaluations,
             std::optional<double> seconds, std::function<bool()> stop)
      : neighbourhood_(neighbourhood), evaluations_(evaluations), deadline_(seconds, std::move(stop)) {}

  // Looks at the clock only now and then, because a guess may take as little time as that.
  [[nodiscard]] bool spent() {
    constexpr std::uint64_t ops_between_looks = 8192, ops_of_guess = 16;  // about 0.2 ms; a guess without any op
    const std::uint64_t evaluations = neighbourhood_.evaluations();
    if (evaluations_ && evaluations >= *evaluations_) return true;
    const std::uint64_t simulated = neighbourhood_.guessed_ops() + ops_of_guess * evaluations +
                                    neighbourhood_.checks() * neighbourhood_.units().unit_of_op.size();
    if (passed_ || simulated < next_look_) return passed_;
    next_look_ = simulated + ops_between_looks;
    return passed_ = deadline_.passed();
  }

 private:
  const Neighbourhood& neighbourhood_;
  const std::optional<std::uint64_t> evaluations_;
  const Deadline deadline_;
  std::uint64_t next_look_ = 0;
  bool passed_ = false;
};

}  // namespace emplace::search
