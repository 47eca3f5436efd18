#include "base/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "base/log.hpp"
#include "base/text.hpp"

namespace emplace {

Progress::Progress(bool enabled, double done_before)
    : enabled_(enabled),
      terminal_(log::on_terminal()),
      done_before_(done_before),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() { finish(); }

bool Progress::is_short(Clock::time_point now) const {
  return !printed_ && !terminal_ && now - start_ < std::chrono::seconds(2);
}

void Progress::begin_part(double fraction, const std::string& text) {
  const auto now = Clock::now();
  if (enabled_ && !is_short(now)) show(fraction, text, {}, now);
}

void Progress::update(double fraction, const std::string& text, std::optional<double> seconds_left) {
  if (!enabled_) return;
  const auto now = Clock::now();
  const auto interval = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10000);
  if (printed_ && now - last_ < interval && fraction < 1) return;
  if (is_short(now) && fraction < 1) return;
  show(fraction, text, seconds_left, now);
}

void Progress::show(double fraction, const std::string& text, std::optional<double> seconds_left,
                    Clock::time_point now) {
  last_ = now;
  printed_ = true;

  const double elapsed = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("{:3.0f} %  {}", 100 * std::clamp(fraction, 0.0, 1.0), text);
  const double done_now = fraction - done_before_;
  if (!seconds_left && done_now > 0.01 * (1 - done_before_) && fraction < 1 && elapsed > 0.5)
    seconds_left = elapsed * (1 - fraction) / done_now;
  if (seconds_left && *seconds_left > 0) line += fmt::format("  {} left", human_seconds(*seconds_left));
  if (terminal_) {
    const std::size_t old_width = width_;
    width_ = line.size();
    if (old_width > width_) line.append(old_width - width_, ' ');
    fmt::print(stderr, "\r{}", line);
    line_open_ = true;
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

void Progress::finish() {
  if (!line_open_) return;
  fmt::print(stderr, "\n");
  line_open_ = false;
  width_ = 0;
}

}  // namespace emplace
