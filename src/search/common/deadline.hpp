// The end of a budget of seconds, or an earlier request to stop.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <optional>

namespace emplace::search {

// The budget of a placer that starts when no seconds are left: budgets of 0 are refused.
inline constexpr double least_seconds = 1e-9;

class Deadline {
 public:
  explicit Deadline(std::optional<double> seconds, std::function<bool()> stop = {})
      : seconds_(seconds), stop_(std::move(stop)) {}

  [[nodiscard]] bool passed() const { return left() <= 0 || (stop_ && stop_()); }
  [[nodiscard]] double left() const {  // in seconds; infinite without a budget
    return seconds_ ? *seconds_ - elapsed() : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] double elapsed() const {  // seconds since construction
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<double> seconds_;
  std::function<bool()> stop_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace emplace::search
