// When a budget of seconds ends.
#pragma once

#include <chrono>
#include <limits>
#include <optional>

namespace emplace {

class Deadline {
 public:
  explicit Deadline(std::optional<double> seconds) : seconds_(seconds) {}

  [[nodiscard]] bool passed() const { return left() <= 0; }
  [[nodiscard]] double left() const {  // seconds; infinite without a budget
    return seconds_ ? *seconds_ - elapsed() : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] double elapsed() const {  // seconds since it was made
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<double> seconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace emplace
