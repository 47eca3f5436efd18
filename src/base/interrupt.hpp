// A request to stop early, made by a signal handler. Work that can stop at a suitable point checks stop_requested() and
// writes the results it has so far. Work that would take long up to such a point is abandoned at a stop point.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

namespace emplace {

// Can be called in a signal handler.
void request_stop();
[[nodiscard]] bool stop_requested();

// Whether a stop has something to save. If not, a signal handler may end the program at once: while files are read, for
// example. True at first.
void set_work_to_save(bool any);
[[nodiscard]] bool has_work_to_save();

// Thrown by stop_point(). What was being computed is lost; its owner must be as it was before, or be thrown away.
struct Interrupted final : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "stopped on request"; }
};

// While one exists, stop points throw Interrupted if a stop was requested, on the threads that compute for this one
// too. There is at most one in a process.
class Interruptible {
 public:
  using Asked = std::function<bool()>;
  // `asked` is called on this thread only, at every stop point. Work that ends within `grace` after the first time that
  // `asked` was true is not interrupted.
  explicit Interruptible(Asked asked = stop_requested, std::chrono::duration<double> grace = {});
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  friend bool stop_is_due();
  using Clock = std::chrono::steady_clock;
  bool is_due();

  Asked asked_;
  std::chrono::duration<double> grace_;
  std::thread::id thread_;
  std::atomic<Clock::rep> since_ = 0;  // of the clock; 0: not asked yet
};

// Whether stop_point() would throw.
[[nodiscard]] bool stop_is_due();
// Called within long computations, every 0.1 s or more often. Without an Interruptible it costs next to nothing.
void stop_point();
// The same as the `stop` of a search, which ends by the exception: false if there is none.
bool end_at_stop();
// Sleeps, with stop points.
void sleep_unless_stopped(std::chrono::duration<double> time);

}  // namespace emplace
