// A live progress line on a terminal; a plain line now and then when standard error is redirected.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace emplace {

class Progress {
 public:
  // `enabled` false: prints nothing (other ranks, --quiet). `done_before`: the fraction that earlier sessions did.
  explicit Progress(bool enabled, double done_before = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `fraction` of the work done in [0, 1]; `text` is what to say. The time remaining follows from the fraction, unless
  // the caller knows better.
  void update(double fraction, const std::string& text, std::optional<double> seconds_left = {});
  // Ends the live line, so that what follows starts on a line of its own.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool terminal_;
  double done_before_;
  bool line_open_ = false;
  std::size_t width_ = 0;
  Clock::time_point start_;
  Clock::time_point last_;
  bool printed_ = false;
};

}  // namespace emplace
