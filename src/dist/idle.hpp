// Waiting for a message without holding the core: MPI's own blocking calls spin, which on shared cores costs several
// times the work (5 ranks on 2 cores: 28 s of spinning where sleeping takes 1.7 s).
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace emplace {

// Call wait() after every poll that found nothing, and reset() after one that found something.
class Idle {
 public:
  void wait() {
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(2 * sleep_, longest);
  }
  void reset() { sleep_ = shortest; }

 private:
  using Microseconds = std::chrono::microseconds;
  static constexpr Microseconds shortest{1};
  static constexpr Microseconds longest{200};
  Microseconds sleep_ = shortest;
};

}  // namespace emplace
