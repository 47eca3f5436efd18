#include "experiment/sweep/live_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "base/log.hpp"

namespace emplace::experiment {

LiveTable::LiveTable(bool enabled) : enabled_(enabled), terminal_(log::on_terminal()), shown_(Clock::now()) {}

bool LiveTable::is_due() const {
  using namespace std::chrono_literals;
  return enabled_ && Clock::now() - shown_ >= (terminal_ ? std::chrono::milliseconds(500) : 10s);
}

void LiveTable::show(const std::string& lines) {
  if (!enabled_) return;
  clear();
  fmt::print(stderr, "{}", lines);
  std::fflush(stderr);
  shown_ = Clock::now();
  height_ = static_cast<std::size_t>(std::ranges::count(lines, '\n'));
}

void LiveTable::clear() {
  // Moves the cursor to the first line and clears from there to the end of the screen.
  if (terminal_ && height_ > 0) fmt::print(stderr, "\033[{}A\033[J", height_);
  height_ = 0;
}

}  // namespace emplace::experiment
