// Writes the part of the trace event format (Google, "Trace Event Format", 2016) that a simulated step needs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "emplace/base/types.hpp"

namespace emplace::report {

// A name as a JSON string: quoted, escaped, cut after 200 bytes; bytes that are not UTF-8 are replaced.
std::string json_name(std::string_view name);

// Where an event is shown. Perfetto identifies threads by `tid` alone, so each `tid` is unique over all processes, and
// none is 0, which Perfetto takes for the idle process.
struct Track {
  std::uint32_t pid = 0, tid = 0;
};

// Each call writes one event, through a buffer of some 64 KiB.
class TraceEvents {
 public:
  explicit TraceEvents(const std::function<void(std::string_view)>& write);
  TraceEvents(const TraceEvents&) = delete;
  TraceEvents& operator=(const TraceEvents&) = delete;

  void process_name(std::uint32_t pid, std::string_view name);  // shown in the order of pid
  void thread_name(Track track, std::string_view name);         // shown in the order of tid
  // `args` is the inside of a JSON object, perhaps empty.
  void slice(Track track, std::string_view name, std::string_view category, Ticks start, Ticks end,
             std::string_view args);
  void counter(std::uint32_t pid, std::string_view name, std::string_view series, Ticks time, std::int64_t value);
  // An arrow through the slices that start at these times on these tracks. The slices must be written before the arrow,
  // because viewers attach an arrow to the newest open slice of its track.
  enum class Arrow : char { start = 's', step = 't', finish = 'f' };
  void arrow(Arrow what, std::uint64_t id, Track track, Ticks time);
  // `metadata` is the inside of a JSON object, perhaps empty.
  void finish(std::string_view metadata);

 private:
  void begin_event();
  void put_time(std::string_view key, Ticks time);
  void flush();

  const std::function<void(std::string_view)>& write_;
  std::string buffer_;
  bool first_ = true;
};

}  // namespace emplace::report
