// Runs work that may crash, hang or use too much memory in a child process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace emplace::formats {

struct Containment {
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // in addition to what the process uses now
  std::uint64_t cpu_seconds = 2;
};

struct Contained {
  std::string result;      // the text that the work returned
  std::string killed;      // why there is no result: "signal 11 (Segmentation fault)"; "" if there is one
  std::uint64_t step = 0;  // the last value that the work stored in its argument `step`
};

// Runs `work` in a forked child and returns its text. If the work throws InputError, this function throws it too; any
// other exception of the work becomes a BugError. The child writes nothing but its answer and leaves no core file,
// zombie or orphan.
Contained run_contained(const Containment& limits,
                        const std::function<std::string(std::atomic<std::uint64_t>& step)>& work);

}  // namespace emplace::formats
