// Parses the XSpace of TensorFlow's profiler (NAME.xplane.pb, tf.profiler.experimental): xplane.proto of TSL. The
// host's plane has a line for each thread; events of kernels are called "node:Type". Steps are events with the
// statistic "step_num" (tf.profiler.experimental.Trace("step", step_num=i)).
#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "cost/profile_forms.hpp"
#include "cost/tensorflow_times.hpp"
#include "emplace/base/error.hpp"
#include "formats/proto/cursor.hpp"

namespace emplace::cost {

namespace {

using formats::ProtoCursor;
using formats::ProtoField;
using enum formats::ProtoKind;

class Plane {
 public:
  explicit Plane(ProtoCursor& in) : in_(in) {}

  void read() {
    static constexpr ProtoField fields[] = {
        {2, "name", text}, {3, "lines", message}, {4, "event_metadata", message}, {5, "stat_metadata", message}};
    while (const std::uint32_t field = in_.next(fields)) switch (field) {
        case 2: name = in_.name(); break;
        case 3: in_.message([&] { read_line(); }); break;
        case 4: in_.message([&] { read_entry(event_names_); }); break;
        default: in_.message([&] { read_entry(stat_names_); });
      }
  }

  std::string name;

  void add_to(TensorflowTimes& times, const std::string& file) {
    std::unordered_set<std::int64_t> step_numbers;
    for (const auto& [id, stat] : stat_names_)
      if (stat == "step_num") step_numbers.insert(id);
    std::size_t stat = 0;
    for (const Event& event : events_) {
      bool is_step = false;
      for (const std::size_t end = stat + event.stats; stat < end; ++stat)
        is_step = is_step || step_numbers.contains(stats_[stat]);
      const double seconds = 1e-12 * static_cast<double>(event.duration_ps);
      if (is_step) times.add_run(seconds);
      // Names of nodes have no colon; "ExecutorState::Process" is a function of the runtime.
      const std::string_view label = event_names_[event.name];
      const std::size_t colon = label.find(':');
      if (is_step || colon == label.npos || label.find(':', colon + 1) != label.npos) continue;
      times.add("", std::string(label.substr(0, colon)), label.substr(colon + 1), seconds, file);
    }
  }
  [[nodiscard]] bool has_events() const { return !events_.empty(); }

 private:
  struct Event {
    std::int64_t name = 0, duration_ps = 0;
    std::size_t stats = 0;  // how many of stats_, after those of the events before
  };

  void read_line() {
    static constexpr ProtoField fields[] = {{4, "events", message}};
    while (in_.next(fields) != 0) in_.message([&] { read_event(); });
  }
  void read_event() {
    static constexpr ProtoField fields[] = {
        {1, "metadata_id", whole}, {3, "duration_ps", whole}, {4, "stats", message}};
    Event event;
    while (const std::uint32_t field = in_.next(fields)) switch (field) {
        case 1: event.name = in_.whole(); break;
        case 3: event.duration_ps = in_.whole(); break;
        default: ++event.stats; in_.message([&] { read_stat(); });
      }
    events_.push_back(event);
  }
  void read_stat() {
    static constexpr ProtoField fields[] = {{1, "metadata_id", whole}};
    stats_.push_back(0);
    while (in_.next(fields) != 0) stats_.back() = in_.whole();
  }
  // An entry of a map from ids to messages with a name.
  void read_entry(std::unordered_map<std::int64_t, std::string>& names) {
    static constexpr ProtoField fields[] = {{1, "key", whole}, {2, "value", message}}, of_value[] = {{2, "name", text}};
    constexpr std::size_t longest_name = std::size_t{64} << 10;
    std::int64_t id = 0;
    std::string found;
    while (const std::uint32_t field = in_.next(fields)) {
      if (field == 1)
        id = in_.whole();
      else
        in_.message([&] {
          while (in_.next(of_value) != 0) found = in_.text(longest_name).value_or("");
        });
    }
    names[id] = std::move(found);
  }

  ProtoCursor& in_;
  std::vector<Event> events_;
  std::vector<std::int64_t> stats_;
  std::unordered_map<std::int64_t, std::string> event_names_, stat_names_;
};

}  // namespace

void parse_xspace(ProtoCursor& in, Profile& profile) {
  static constexpr ProtoField fields[] = {{1, "planes", message}};
  TensorflowTimes times(profile);
  while (in.next(fields) != 0) {
    Plane plane(in);
    in.message([&] { plane.read(); });
    if (plane.name.starts_with("/host:CPU"))
      plane.add_to(times, profile.file);
    else if (plane.name.starts_with("/device:") && plane.has_events())
      profile.warnings.push_back(
          fmt::format("{}: the kernels of {} are not read, only those of the host", profile.file, quote(plane.name)));
  }
  times.finish();
}

}  // namespace emplace::cost
