#include "waiting.hpp"

#include <pybind11/pybind11.h>

#include <exception>
#include <thread>

namespace emplace::python {

namespace py = pybind11;

bool Meeting::ask() {
  std::unique_lock lock(mutex_);
  if (abandoned_ || stop_) return true;
  asked_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !asked_ || abandoned_; });
  return abandoned_ || stop_;
}

void run_and_wait(std::function<void(Meeting& meeting)> work, std::chrono::milliseconds patience,
                  const std::function<bool()>& answer) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds between_signals{20};
  struct Shared {
    Meeting meeting;
    std::exception_ptr error;
  };
  const auto shared = std::make_shared<Shared>();
  Meeting& meeting = shared->meeting;
  std::thread thread([shared, run = std::move(work)]() mutable {
    try {
      run(shared->meeting);
    } catch (...) {
      shared->error = std::current_exception();
    }
    run = nullptr;  // releases what the work shares before the caller continues
    const std::lock_guard lock(shared->meeting.mutex_);
    shared->meeting.done_ = true;
    shared->meeting.changed_.notify_all();
  });

  std::exception_ptr raised;  // by a signal handler or by `answer`
  Clock::time_point deadline = Clock::time_point::max();
  bool done = false;
  {
    const py::gil_scoped_release released;
    std::unique_lock lock(meeting.mutex_);
    while (true) {
      if (!meeting.done_ && !meeting.asked_) meeting.changed_.wait_for(lock, between_signals);
      if (meeting.done_ || Clock::now() >= deadline) break;
      const bool asked = meeting.asked_;
      lock.unlock();
      {
        const py::gil_scoped_acquire acquired;
        try {
          if (PyErr_CheckSignals() != 0) throw py::error_already_set();
          if (asked && !raised && answer && answer()) meeting.stop_ = true;
        } catch (...) {
          deadline = raised ? Clock::now() : Clock::now() + patience;
          raised = std::current_exception();
          meeting.stop_ = true;
        }
      }
      lock.lock();
      if (asked) {
        meeting.asked_ = false;
        meeting.changed_.notify_all();
      }
    }
    done = meeting.done_;
    meeting.abandoned_ = true;
    meeting.changed_.notify_all();
    lock.unlock();
    if (done)
      thread.join();
    else
      thread.detach();
  }
  if (raised) std::rethrow_exception(raised);
  if (shared->error) std::rethrow_exception(shared->error);
}

}  // namespace emplace::python
