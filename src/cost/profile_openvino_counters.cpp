// Parses OpenVINO's table of performance counters (benchmark_app -pc -report_type detailed_counters), separated by
// semicolons. It has only the first of the names of the layers that a kernel computes.
#include <fmt/core.h>

#include "base/text.hpp"
#include "cost/profile_forms.hpp"
#include "cost/repeated_times.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

void parse_openvino_counters(std::string_view text, Profile& profile) {
  profile.devices = {""};
  profile.whole_run = profile.fused_run = true;
  RepeatedTimes times(profile);
  std::size_t columns = 0, time_column = 0, number = 0;
  double unit = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string place = fmt::format("{}:{}", profile.file, ++number);
    const std::vector<std::string> cells = split(line, ';');
    if (columns == 0) {
      columns = cells.size();
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i] == "realTime (ms)" || cells[i] == "realTime (us)") {
          time_column = i;
          unit = cells[i].ends_with("(ms)") ? 1e-3 : 1e-6;
        }
      if (time_column < 2) throw InputError(place, "the header has no column realTime (ms) after layerName;execStatus");
      continue;
    }
    // Other lines: ops that were not run, the sum at the end of each request, empty lines.
    if (cells.size() < 2 || !cells[1].ends_with("EXECUTED")) continue;
    if (cells.size() < columns) throw InputError(place, "{} cells where the header has {}", cells.size(), columns);
    double seconds = -1;
    if (!parse_number(cells[time_column], seconds))
      throw InputError(place, "the time must be a number, got {}", quote(cells[time_column]));
    if (cells[0].empty()) throw InputError(place, "the layer's name is empty");
    ProfileRow& row = times.add(cells[0], "", seconds * unit, place);
    row.line = static_cast<std::uint32_t>(number);
    row.fused = true;
    constexpr std::string_view apart = "/WithoutBiases";  // a convolution whose bias is added by a layer of its own
    if (row.parts.empty() && cells[0].ends_with(apart))
      row.parts = {cells[0], cells[0].substr(0, cells[0].size() - apart.size())};
  }
  times.finish();
}

}  // namespace emplace::cost
