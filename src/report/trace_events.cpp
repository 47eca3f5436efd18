#include "report/trace_events.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace emplace::report {

namespace {
constexpr std::size_t buffer_size = std::size_t{1} << 16;
constexpr std::size_t longest_event_name = 200;
}  // namespace

std::string json_name(std::string_view name) {
  using nlohmann::json;
  const bool cut = name.size() > longest_event_name;
  return json(std::string(name.substr(0, longest_event_name)) + (cut ? "..." : ""))
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

TraceEvents::TraceEvents(const std::function<void(std::string_view)>& write) : write_(write) {
  buffer_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
}

void TraceEvents::begin_event() {
  if (buffer_.size() >= buffer_size) flush();
  buffer_ += first_ ? "\n" : ",\n";
  first_ = false;
}

void TraceEvents::flush() {
  write_(buffer_);
  buffer_.clear();
}

// The format's unit is the microsecond: a million picoseconds.
void TraceEvents::put_time(std::string_view key, Ticks time) {
  fmt::format_to(std::back_inserter(buffer_), R"(,"{}":{}.{:06})", key, time / 1'000'000, time % 1'000'000);
}

void TraceEvents::process_name(std::uint32_t pid, std::string_view name) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})",
                 pid, json_name(name));
  begin_event();
  fmt::format_to(std::back_inserter(buffer_),
                 R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})", pid);
}

void TraceEvents::thread_name(Track track, std::string_view name) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_),
                 R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", track.pid, track.tid,
                 json_name(name));
  begin_event();
  fmt::format_to(std::back_inserter(buffer_),
                 R"({{"ph":"M","name":"thread_sort_index","pid":{0},"tid":{1},"args":{{"sort_index":{1}}}}})",
                 track.pid, track.tid);
}

void TraceEvents::slice(Track track, std::string_view name, std::string_view category, Ticks start, Ticks end,
                        std::string_view args) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"({{"ph":"X","pid":{},"tid":{},"cat":"{}","name":{})", track.pid,
                 track.tid, category, json_name(name));
  put_time("ts", start);
  put_time("dur", end - start);
  fmt::format_to(std::back_inserter(buffer_), R"(,"args":{{{}}}}})", args);
}

void TraceEvents::counter(std::uint32_t pid, std::string_view name, std::string_view series, Ticks time,
                          std::int64_t value) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"({{"ph":"C","pid":{},"name":"{}")", pid, name);
  put_time("ts", time);
  fmt::format_to(std::back_inserter(buffer_), R"(,"args":{{"{}":{}}}}})", series, value);
}

void TraceEvents::arrow(Arrow what, std::uint64_t id, Track track, Ticks time) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"({{"ph":"{}","id":{},"pid":{},"tid":{},"cat":"tensor","name":"tensor")",
                 static_cast<char>(what), id, track.pid, track.tid);
  put_time("ts", time);
  buffer_ += what == Arrow::finish ? R"(,"bp":"e"})" : "}";
}

void TraceEvents::finish(std::string_view metadata) {
  fmt::format_to(std::back_inserter(buffer_), "\n],\"otherData\":{{{}}}}}\n", metadata);
  flush();
}

}  // namespace emplace::report
