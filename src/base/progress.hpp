// A progress line that is updated in place on a terminal; a new line every 10 s when standard error is redirected.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace emplace {

class Progress {
 public:
  // If `enabled` is false, nothing is printed (other ranks, --quiet). `done_before` is the fraction of the work that
  // was done before this run of the program (a resumed training).
  explicit Progress(bool enabled, double done_before = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `fraction` of the work done, in [0, 1]; `text` is printed after it. The remaining time is extrapolated from the
  // fraction unless the caller gives `seconds_left`.
  void update(double fraction, const std::string& text, std::optional<double> seconds_left = {});
  // As update(), for a new part of the work: shown at once, however short a time ago the line was shown; off a terminal
  // only if the work has taken two seconds.
  void begin_part(double fraction, const std::string& text);
  // Ends the line, so that later output starts on a new line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  // Off a terminal, short jobs print nothing.
  [[nodiscard]] bool is_short(Clock::time_point now) const;
  void show(double fraction, const std::string& text, std::optional<double> seconds_left, Clock::time_point now);

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
