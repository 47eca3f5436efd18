// A few lines of progress: redrawn in place on a terminal, and printed from time to time if standard error is
// redirected. The destructor removes them from the terminal; the caller prints the result.
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

  // Each of the `lines` ends with a line break.
  void show(const std::string& lines);
  // Removes the lines from a terminal.
  void clear();
  // Whether show() would draw now; if not, the caller need not make the lines.
  [[nodiscard]] bool is_due() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_, terminal_;
  std::size_t height_ = 0;  // number of lines drawn last
  Clock::time_point shown_;
};

}  // namespace emplace::experiment
