// The readers of published workloads, in the order in which they are tried, and the functions that choose among them.
#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/workload/parts.hpp"
#include "formats/workload/workload.hpp"

namespace emplace::formats {

namespace {

const std::vector<std::string> options = {"processors"};

WorkloadRequest parse_request(std::string_view text, const std::string& source) {
  WorkloadRequest request;
  const std::size_t question = text.rfind('?');
  if (text.starts_with('#'))
    request.instance = text.substr(1, question == std::string_view::npos ? question : question - 1);
  if (question == std::string_view::npos) return request;
  for (const std::string& pair : split(text.substr(question + 1), '&')) {
    const std::size_t equals = pair.find('=');
    const std::string key = pair.substr(0, equals);
    if (key != options.front()) throw InputError(source, "unknown option {}{}", quote(key), "; there is: processors");
    if (request.processors) throw InputError(source, "?processors= is given twice");
    std::int64_t count = 0;
    const std::string value = equals == std::string::npos ? "" : pair.substr(equals + 1);
    if (!parse_number(value, count) || count < 1 || count > static_cast<std::int64_t>(max_devices))
      throw InputError(source, "?processors= must be a whole number from 1 to {}, got {}", max_devices, quote(value));
    request.processors = count;
  }
  return request;
}

}  // namespace

std::optional<ProblemAddress> parse_problem_address(const std::string& source) {
  if (file_exists(source)) return ProblemAddress{source, {}};
  for (std::size_t end = source.find_first_of("#?"); end != std::string::npos;
       end = source.find_first_of("#?", end + 1))
    if (file_exists(source.substr(0, end)))
      return ProblemAddress{source.substr(0, end), parse_request(std::string_view(source).substr(end), source)};
  return std::nullopt;
}

std::span<const WorkloadEntry> workloads() {
  static const std::vector<WorkloadEntry> entries = {dnn_partitioning_workload(), moirai_workload(), sinnen_workload(),
                                                     stg_workload(), het_dag_workload()};
  return entries;
}

bool is_problem_text(std::string_view text) {
  const TextOutline outline = outline_of(text);
  return outline.bracket == '{' ||
         std::ranges::any_of(workloads(), [&](const WorkloadEntry& entry) { return entry.recognises(outline); });
}

Problem read_problem_text(std::string_view text, const std::string& file, const WorkloadRequest& request,
                          std::vector<std::string>* lacks) {
  const TextOutline outline = outline_of(text);
  if (!outline.has("emplace"))
    for (const WorkloadEntry& entry : workloads())
      if (entry.recognises(outline)) return entry.read(text, file, request);
  refuse_instance(request, file);
  if (request.processors)
    throw InputError(file, "is no task graph, so ?processors={} is not allowed", *request.processors);
  return read_problem_json(text, file, lacks);
}

Problem read_problem_file(const ProblemAddress& address, std::vector<std::string>* lacks) {
  return read_problem_text(read_file(address.file), address.file, address.request, lacks);
}

PlacementFile read_placement_text(std::string_view text, const std::string& file, const Problem& problem) {
  const TextOutline outline = outline_of(text);
  if (!outline.has("emplace") && outline.bracket == '{' && outline.has("fpgas"))
    return {.placement = read_expert_split(text, file, problem), .schedule = {}, .problem_name = {}};
  return read_placement_json(text, file, problem);
}

}  // namespace emplace::formats
