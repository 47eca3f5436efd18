// Parses the timeline that TensorFlow makes of step stats (timeline.Timeline(...).generate_chrome_trace_format()): a
// trace whose events of category "Op" are kernels.
#include <unordered_map>

#include "cost/profile_forms.hpp"
#include "cost/tensorflow_times.hpp"
#include "cost/trace_events.hpp"

namespace emplace::cost {

void parse_tensorflow_timeline(std::string_view text, Profile& profile) {
  constexpr std::string_view computes = " Compute";
  TensorflowTimes times(profile);
  std::unordered_map<std::int64_t, std::string> device_of;  // the events of a device have a process id of their own
  for_each_event(text, profile.file, [&](TraceEvent&& event, const std::string& place) {
    if (event.phase == "M" && event.name == "process_name" && event.args_name.ends_with(computes))
      device_of[event.process] = event.args_name.substr(0, event.args_name.size() - computes.size());
    if (event.phase == "X" && event.category == "Op")
      times.add(device_of[event.process], std::move(event.args_name), event.args_op, event.duration_us * 1e-6, place);
    return true;
  });
  times.finish();
}

}  // namespace emplace::cost
