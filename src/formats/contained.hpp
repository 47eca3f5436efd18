// Work that may crash, hang or eat memory, in a process of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace emplace::formats {

struct Containment {
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // beyond what the process has now
  std::uint64_t cpu_seconds = 2;
};

struct Contained {
  std::string result;      // of the work
  std::string killed;      // why it has no result: "signal 11 (Segmentation fault)"; "" if it has one
  std::uint64_t step = 0;  // what the work last stored there
};

// Runs `work` in a forked child and returns its text. An InputError of the work is thrown here; what else it throws is
// a BugError. The child writes nothing but its answer and leaves no core, zombie or orphan.
Contained run_contained(const Containment& limits,
                        const std::function<std::string(std::atomic<std::uint64_t>& step)>& work);

}  // namespace emplace::formats
