// Long calls: the work runs on another thread without the GIL, while the calling thread waits and handles signals, so
// that Ctrl-C raises KeyboardInterrupt at any time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace emplace::python {

// The communication between the two threads.
class Meeting {
 public:
  // For the work: whether the caller asked it to end early.
  [[nodiscard]] bool stopped() const { return stop_; }
  // For the work: lets the calling thread run `answer` with the GIL and waits for it. Returns true to end early.
  bool ask();

 private:
  friend void run_and_wait(std::function<void(Meeting& meeting)> work, std::chrono::milliseconds patience,
                           const std::function<bool()>& answer);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stop_ = false;
  bool asked_ = false, done_ = false, abandoned_ = false;
};

// How long Ctrl-C waits for work to end, which most work does soon once it is asked to.
inline constexpr std::chrono::milliseconds usual_patience{1000};

// Runs `work`, which must own or share everything that it uses. If a signal handler of Python raises, the work is asked
// to stop; if it has not ended after `patience` or at a second Ctrl-C, it goes on alone and its result is dropped. Work
// that never looks at Meeting::stopped(), as reading a problem, always goes on to its end.
// `answer` is called by Meeting::ask(); it returns true to end early, and may throw. The caller holds the GIL.
void run_and_wait(std::function<void(Meeting& meeting)> work, std::chrono::milliseconds patience,
                  const std::function<bool()>& answer);

// Returns the result of the work.
template <class Work>
auto work_and_wait(Work work, std::chrono::milliseconds patience, const std::function<bool()>& answer = {}) {
  using Result = decltype(work(std::declval<Meeting&>()));
  const auto result = std::make_shared<std::optional<Result>>();
  run_and_wait([result, work = std::move(work)](Meeting& meeting) { *result = work(meeting); }, patience, answer);
  return std::move(**result);
}

}  // namespace emplace::python
