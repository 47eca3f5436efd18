#include "base/interrupt.hpp"

#include <algorithm>
#include <csignal>

#include "emplace/base/error.hpp"

namespace emplace {

namespace {
volatile std::sig_atomic_t stop_flag = 0;
volatile std::sig_atomic_t work_flag = 1;
std::atomic<Interruptible*> present = nullptr;
}  // namespace

void request_stop() { stop_flag = 1; }
bool stop_requested() { return stop_flag != 0; }

void set_work_to_save(bool any) { work_flag = any ? 1 : 0; }
bool has_work_to_save() { return work_flag != 0; }

Interruptible::Interruptible(Asked asked, std::chrono::duration<double> grace)
    : asked_(std::move(asked)), grace_(grace), thread_(std::this_thread::get_id()) {
  EMPLACE_CHECK(present.exchange(this) == nullptr, "two interruptible computations at a time");
}
Interruptible::~Interruptible() { present = nullptr; }

bool Interruptible::is_due() {
  if (since_ == 0) {
    if (std::this_thread::get_id() != thread_ || !asked_()) return false;
    since_ = Clock::now().time_since_epoch().count();
  }
  return Clock::now().time_since_epoch() - Clock::duration(since_) >= grace_;
}

bool stop_is_due() {
  Interruptible* const now = present.load(std::memory_order_relaxed);
  return now != nullptr && now->is_due();
}

void stop_point() {
  if (stop_is_due()) throw Interrupted();
}

bool end_at_stop() {
  stop_point();
  return false;
}

void sleep_unless_stopped(std::chrono::duration<double> time) {
  constexpr std::chrono::duration<double> nap{0.05};
  for (; time.count() > 0; time -= nap) {
    stop_point();
    std::this_thread::sleep_for(std::min(time, nap));
  }
}

}  // namespace emplace
