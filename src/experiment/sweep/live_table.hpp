// A few lines that are drawn again in place on a terminal, and now and then where standard error is redirected. They
// go when it does: the result is somebody else's to print.
#pragma once

#include <chrono>
#include <string>

namespace emplace::experiment {

class LiveTable {
 public:
  explicit LiveTable(bool enabled);
  ~LiveTable() { clear(); }
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  // `lines` end with a line break each.
  void show(const std::string& lines);
  // Takes the lines off a terminal.
  void clear();
  // Whether show() would draw now, so that nobody makes lines for nothing.
  [[nodiscard]] bool is_due() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_, terminal_;
  std::size_t height_ = 0;  // of what was drawn last
  Clock::time_point shown_;
};

}  // namespace emplace::experiment
