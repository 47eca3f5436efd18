#include "nn/kernels/in_parts.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"
#include "nn/kernels/threads.hpp"

namespace emplace::nn {

namespace {

// Number of polls before a thread sleeps: the next piece of work usually comes within a few microseconds.
constexpr int looks = 4000;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Waits until `value` differs from `old`, and returns the new value.
template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  for (int i = 0; i < looks; ++i) {
    if (const T now = value.load(std::memory_order_acquire); now != old) return now;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

thread_local bool inside_part = false;

// The work between two stop points takes at most about 0.1 s; more often costs time, because products pack their right
// matrix each time.
constexpr std::size_t slice_cost = std::size_t{1} << 30;

// Calls `part` for a range, with stop points.
void in_slices(std::size_t begin, std::size_t end, std::size_t cost, std::size_t grain, Part part, void* work) {
  const std::size_t slice = std::max<std::size_t>(1, slice_cost / std::max<std::size_t>(1, cost) / grain) * grain;
  while (begin < end) {
    stop_point();
    const std::size_t count = std::min(slice, end - begin);
    part(work, begin, count);
    begin += count;
  }
}

// The calling thread and count() - 1 other threads, which sleep between the calls.
class ThreadPool {
 public:
  ~ThreadPool() { dismiss(); }
  [[nodiscard]] std::size_t count() const { return others_.size() + 1; }

  void resize(std::size_t count) {
    dismiss();
    others_.reserve(count - 1);
    try {
      while (others_.size() + 1 < count)
        others_.emplace_back([this, number = others_.size() + 1, begin = round_.load()] { follow(number, begin); });
    } catch (...) {
      dismiss();
      throw;
    }
  }

  void run(std::size_t parts, std::size_t count, std::size_t cost, std::size_t grain, Part part, void* work) {
    EMPLACE_CHECK(!runs_.exchange(true), "two networks at a time on the threads of one");
    parts_ = parts, count_ = count, cost_ = cost, grain_ = grain, part_ = part, work_ = work;
    busy_.store(static_cast<std::uint32_t>(others_.size()), std::memory_order_relaxed);
    start();
    do_part(0);
    for (std::uint32_t left = busy_.load(std::memory_order_acquire); left > 0;) left = wait_for_change(busy_, left);
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    runs_ = false;
    if (failure) std::rethrow_exception(failure);
  }

 private:
  void dismiss() {
    ends_ = true;
    start();
    others_.clear();  // joins the threads
    ends_ = false;
  }
  void start() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  void do_part(std::size_t number) {
    const std::size_t grains = (count_ + grain_ - 1) / grain_;
    const std::size_t begin = std::min(count_, grains * number / parts_ * grain_),
                      end = std::min(count_, grains * (number + 1) / parts_ * grain_);
    inside_part = true;
    try {
      in_slices(begin, end, cost_, grain_, part_, work_);
    } catch (...) {
      const std::lock_guard lock(failing_);
      if (!failure_) failure_ = std::current_exception();
    }
    inside_part = false;
  }
  void follow(std::size_t number, std::uint32_t round) {
    for (;;) {
      round = wait_for_change(round_, round);
      if (ends_) return;
      if (number < parts_) do_part(number);
      if (busy_.fetch_sub(1, std::memory_order_release) == 1) busy_.notify_one();
    }
  }

  std::vector<std::jthread> others_;
  std::atomic<std::uint32_t> round_ = 0, busy_ = 0;
  std::atomic<bool> runs_ = false;
  // Data of the current call.
  std::size_t parts_ = 1, count_ = 0, cost_ = 1, grain_ = 1;
  Part part_ = nullptr;
  void* work_ = nullptr;
  std::mutex failing_;
  std::exception_ptr failure_;
  bool ends_ = false;
};

ThreadPool& pool() {
  static ThreadPool of_process;
  return of_process;
}

}  // namespace

std::size_t threads() { return pool().count(); }

void use_threads(std::size_t count) {
  EMPLACE_CHECK(count > 0);
  if (count != threads()) pool().resize(count);
}

void in_parts(std::size_t count, std::size_t cost, std::size_t grain, Part part, void* work) {
  if (count == 0) return;
  const std::size_t worth = inside_part ? 1 : std::max<std::size_t>(1, count * cost / least_part);
  const std::size_t parts = std::min({threads(), worth, (count + grain - 1) / grain});
  if (parts == 1)
    in_slices(0, count, cost, grain, part, work);
  else
    pool().run(parts, count, cost, grain, part, work);
}

}  // namespace emplace::nn
