// Reads het-dag text: after #tasks lines "i: t0, t1, ..." with the time of task i on each processor, after #edges lines
// "e: u, v, delay", then #end. A delay applies between different processors; transfers never wait for a link. Times are
// microseconds. The lines after #critical are ignored, as the collection specifies.
#include <cmath>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/workload/parts.hpp"

namespace emplace::formats {

namespace {

enum class Section { start, critical, tasks, edges, end };

struct Reader {
  Reader(const std::string& of_file, const WorkloadRequest& of_request) : file(of_file), request(of_request) {}

  const std::string& file;
  const WorkloadRequest& request;
  Section section = Section::start;
  std::size_t line = 0;
  std::size_t processors = 0;
  std::vector<std::vector<double>> times;  // tasks x processors, seconds
  struct Edge {
    std::uint32_t from, to;
    double seconds;
    std::size_t line;
  };
  std::vector<Edge> edges;

  [[nodiscard]] std::string place(std::size_t of_line) const { return fmt::format("{}:{}", file, of_line); }
  [[nodiscard]] std::string place() const { return place(line); }

  double number(std::string_view text) const {
    double value = 0;
    if (!parse_number(trimmed(text), value) || !std::isfinite(value) || value < 0)
      throw InputError(place(), "wanted a number of zero or more, got {}", quote(trimmed(text)));
    return value;
  }

  std::uint32_t task(std::string_view text) const {
    std::int64_t value = 0;
    if (!parse_number(trimmed(text), value) || value < 0 || value >= static_cast<std::int64_t>(times.size()))
      throw InputError(place(), "wanted a task from 0 to {}, got {}", static_cast<std::int64_t>(times.size()) - 1,
                       quote(trimmed(text)));
    return static_cast<std::uint32_t>(value);
  }

  // Returns a, b, c of the line "7: a, b, c"; InputError if 7 is not the expected number.
  std::vector<std::string> row(std::string_view text, std::size_t position) const {
    const std::size_t colon = text.find(':');
    std::int64_t found = 0;
    if (colon == std::string_view::npos || !parse_number(trimmed(text.substr(0, colon)), found) ||
        found != static_cast<std::int64_t>(position))
      throw InputError(place(), "wanted a line that begins with '{}:', got {}", position, quote(text));
    return split(text.substr(colon + 1), ',');
  }

  void header(std::string_view text) {
    const std::vector<std::string> names = {"#critical", "#tasks", "#edges", "#end"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (text != names[i]) continue;
      const auto next = static_cast<Section>(i + 1);
      const bool in_order =
          next > section && (next <= Section::tasks || static_cast<int>(next) == static_cast<int>(section) + 1);
      if (!in_order) throw InputError(place(), "{} is in the wrong place", names[i]);
      section = next;
      return;
    }
    throw InputError(place(), "unknown heading {}{}", quote(text), did_you_mean(text, names));
  }

  void content(std::string_view text) {
    switch (section) {
      case Section::start: throw InputError(place(), "wanted '#critical' or '#tasks', got {}", quote(text));
      case Section::critical: return;
      case Section::tasks: {
        std::vector<double> seconds;
        for (const std::string& time : row(text, times.size())) seconds.push_back(number(time) * microsecond);
        if (times.empty()) processors = seconds.size();
        if (seconds.size() != processors)
          throw InputError(place(), "the task has {} times, those before have {}", seconds.size(), processors);
        times.push_back(std::move(seconds));
        return;
      }
      case Section::edges: {
        const std::vector<std::string> parts = row(text, edges.size());
        if (parts.size() != 3) throw InputError(place(), "an edge is 'e: u, v, delay', got {}", quote(text));
        edges.push_back({task(parts[0]), task(parts[1]), number(parts[2]) * microsecond, line});
        return;
      }
      case Section::end: throw InputError(place(), "nothing may follow #end, got {}", quote(text));
    }
  }

  Problem build() const {
    if (section != Section::end) throw InputError(file, "ends without #end");
    if (processors > max_devices)
      throw InputError(file, "has {} processors, at most {} can be named by a placement", processors, max_devices);
    refuse_processors(request, file, processors);
    ProblemBuilder builder = processors_with_delays(problem_name_of(file), processors, file);
    for (std::size_t i = 0; i < times.size(); ++i)
      builder.add_op({.name = fmt::format("{}", i), .type = {}, .seconds = times[i], .colocate = {}}, file);
    EdgeSet set;
    for (const Edge& edge : edges) {
      set.add(edge.from, edge.to, place(edge.line));
      const double seconds[] = {edge.seconds};
      builder.add_tensor(OpId{edge.from}, 0, {OpId{edge.to}}, place(edge.line), seconds);
    }
    return builder.build(file);
  }
};

Problem read_het_dag(std::string_view text, const std::string& file, const WorkloadRequest& request) {
  refuse_instance(request, file);
  Reader reader(file, request);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++reader.line;
    if (line.empty()) continue;
    line.front() == '#' ? reader.header(line) : reader.content(line);
  }
  return reader.build();
}

}  // namespace

WorkloadEntry het_dag_workload() {
  WorkloadEntry entry;
  entry.name = "het-dag";
  entry.summary = "Text of a task graph with a time per task and processor, in microseconds.";
  entry.reference = "github.com/AASantiago/SchedulingInstances";
  entry.recognises = [](const TextOutline& outline) {
    const std::size_t first = outline.text.find_first_not_of(" \t\r\n");
    if (outline.bracket != 0 || first == std::string_view::npos) return false;
    const std::string_view text = outline.text.substr(first);
    return text.starts_with("#critical") || text.starts_with("#tasks");
  };
  entry.read = read_het_dag;
  return entry;
}

}  // namespace emplace::formats
