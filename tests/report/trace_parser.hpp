// Trace events read back and checked against the format, by code that shares nothing with the writer.
#pragma once

#include <cmath>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/perfetto.hpp"

namespace emplace::test {

struct Traced {
  report::TraceSummary summary;
  std::string text;
  nlohmann::json events;
};

inline Traced trace(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
                    const report::TraceLimits& limits = {}) {
  Traced traced;
  traced.summary = report::write_trace(
      problem, placement, timeline, [&](std::string_view piece) { traced.text += piece; }, limits);
  traced.events = nlohmann::json::parse(traced.text).at("traceEvents");
  return traced;
}

// Picoseconds of a time in microseconds. Doubles are exact enough below 2^53 / 10^6 us, some hours.
inline Ticks ticks(const nlohmann::json& microseconds) { return std::llround(microseconds.get<double>() * 1e6); }

using TrackKey = std::pair<int, int>;

struct Parsed {
  std::map<TrackKey, std::map<Ticks, Ticks>> slices;      // start -> end, as shown
  std::map<TrackKey, std::multimap<Ticks, Ticks>> exact;  // start -> end, as simulated
  std::map<int, std::string> processes;
  std::map<TrackKey, std::string> threads;
  std::map<int, std::vector<std::pair<Ticks, Bytes>>> counters;
  std::map<std::int64_t, std::map<char, std::pair<TrackKey, Ticks>>> arrows;
};

inline std::string problem_with(const nlohmann::json& event, const char* what) {
  return std::string(what) + ": " + event.dump();
}

// The schema: "" or what is wrong. Required keys by phase; names for every process and thread before their events; no
// slice of negative length; slices of one track do not overlap; arrows start, step and finish once, in time, each
// inside a slice that begins there; counters go forward in time and never below 0.
inline std::string parse_events(const nlohmann::json& events, Parsed& parsed) {
  const auto needs = [](const nlohmann::json& event, std::initializer_list<const char*> keys) {
    std::size_t found = 0;
    for (const char* key : keys) found += event.contains(key) ? 1 : 0;
    return found == keys.size() && event.size() == keys.size();
  };
  std::set<int> tids;
  for (const nlohmann::json& event : events) {
    const std::string ph = event.at("ph");
    const int pid = event.at("pid");
    if (pid <= 0) return problem_with(event, "a process id that viewers keep for themselves");
    if (ph == "M") {
      const std::string name = event.at("name");
      if (name == "process_name") {
        if (!needs(event, {"ph", "name", "pid", "args"})) return problem_with(event, "keys");
        if (!parsed.processes.emplace(pid, event.at("args").at("name")).second)
          return problem_with(event, "named twice");
      } else if (name == "thread_name") {
        if (!needs(event, {"ph", "name", "pid", "tid", "args"})) return problem_with(event, "keys");
        const int tid = event.at("tid");
        if (!tids.insert(tid).second) return problem_with(event, "a thread id of two processes");
        parsed.threads[{pid, tid}] = event.at("args").at("name");
      } else if (name != "process_sort_index" && name != "thread_sort_index") {
        return problem_with(event, "unknown metadata");
      }
      continue;
    }
    if (!parsed.processes.contains(pid)) return problem_with(event, "a process without a name");
    const Ticks at = ticks(event.at("ts"));
    if (at < 0) return problem_with(event, "before the beginning");
    if (ph == "C") {
      if (!needs(event, {"ph", "pid", "name", "ts", "args"})) return problem_with(event, "keys");
      auto& levels = parsed.counters[pid];
      const Bytes bytes = event.at("args").at("bytes");
      if (bytes < 0 || (!levels.empty() && levels.back().first >= at)) return problem_with(event, "counter");
      levels.emplace_back(at, bytes);
      continue;
    }
    const TrackKey track{pid, event.at("tid").get<int>()};
    if (!parsed.threads.contains(track)) return problem_with(event, "a thread without a name");
    if (ph == "X") {
      if (!needs(event, {"ph", "pid", "tid", "cat", "name", "ts", "dur", "args"})) return problem_with(event, "keys");
      const Ticks duration = ticks(event.at("dur"));
      if (duration <= 0) return problem_with(event, "a slice of no length");
      if (at % 1000 != 0 || duration % 1000 != 0) return problem_with(event, "viewers round to nanoseconds");
      const Ticks start = event.at("args").at("start_ps");
      parsed.exact[track].emplace(start, start + event.at("args").at("duration_ps").get<Ticks>());
      if (!parsed.slices[track].emplace(at, at + duration).second)
        return problem_with(event, "two slices start at once");
    } else if (ph == "s" || ph == "t" || ph == "f") {
      const bool keys = ph == "f" ? needs(event, {"ph", "id", "pid", "tid", "cat", "name", "ts", "bp"})
                                  : needs(event, {"ph", "id", "pid", "tid", "cat", "name", "ts"});
      if (!keys) return problem_with(event, "keys");
      if (!parsed.arrows[event.at("id")].emplace(ph[0], std::pair(track, at)).second)
        return problem_with(event, "twice the same end of an arrow");
      if (!parsed.slices[track].contains(at)) return problem_with(event, "an arrow without a slice");
    } else {
      return problem_with(event, "an unknown phase");
    }
  }
  for (const auto& [track, slices] : parsed.slices) {
    Ticks free = 0;
    for (const auto& [start, end] : slices) {
      if (start < free) return "slices overlap on the track " + parsed.threads[track];
      free = end;
    }
  }
  for (const auto& [id, ends] : parsed.arrows) {
    if (ends.size() != 3) return "an arrow without its three ends";
    const Ticks producer = ends.at('s').second, transfer = ends.at('t').second, consumer = ends.at('f').second;
    // Each slice begins after the one before it has ended.
    if (parsed.slices[ends.at('s').first].at(producer) > transfer) return "sent before it was made";
    if (parsed.slices[ends.at('t').first].at(transfer) > consumer) return "read before it came";
  }
  return "";
}

}  // namespace emplace::test
