// Waits for a message without using the core: MPI's own blocking calls spin, which takes the core away from ranks that
// compute (5 ranks on 2 cores: 28 s of spinning where sleeping takes 1.7 s).
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace emplace::dist {

// Call wait() after every poll that found nothing; make a new one after a message.
class Idle {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // Each sleep is an eighth of the time waited so far, at most 200 us, so that short waits stay short. In waits of more
  // than 20 ms it is a hundredth of that time, at most 5 ms, so that dozens of idle ranks on one core cost almost
  // nothing.
  [[nodiscard]] static constexpr Nanoseconds nap(Nanoseconds waited) {
    constexpr Nanoseconds shortest{2'000};
    constexpr Nanoseconds usual{200'000};
    constexpr Nanoseconds longest{5'000'000};
    return std::clamp(std::min(waited / 8, std::max(usual, waited / 100)), shortest, longest);
  }

  void wait() {
    const Nanoseconds next = nap(waited_);
    std::this_thread::sleep_for(next);
    waited_ += next;
  }

 private:
  Nanoseconds waited_{};
};

}  // namespace emplace::dist
