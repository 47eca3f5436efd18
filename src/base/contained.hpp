// Runs work that may crash, hang or use too much memory in a child process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace emplace {

struct Containment {
  std::optional<std::uint64_t> memory_bytes = std::uint64_t{2} << 30;  // in addition to what the process uses now
  std::optional<std::uint64_t> cpu_seconds = 2;
  // Called in this process every 10 ms while the child works; once it is true, the child sees `ContainedWork::stop`.
  std::function<bool()> stop = {};
};

// What both processes see while the child works.
struct ContainedWork {
  std::atomic<std::uint64_t> step = 0;  // stored by the work: where it is
  std::atomic<bool> stop = false;       // the work should end soon, with the result so far
};

struct Contained {
  std::string result;      // the text that the work returned
  std::string killed;      // why there is no result: "signal 11 (Segmentation fault)"; "" if there is one
  std::uint64_t step = 0;  // the last value that the work stored in `step`
};

// Runs `work` in a forked child and returns its text. If the work throws InputError or std::bad_alloc, this function
// throws it too; any other std::exception becomes a BugError. The child writes nothing but its answer, ignores requests
// to stop that are signals, and leaves no core file, zombie or orphan.
Contained run_contained(const Containment& limits, const std::function<std::string(ContainedWork&)>& work);

}  // namespace emplace
