// Published workloads (task graphs and placement instances) as Problems: one entry and one file a format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::formats {

// What follows the file's name in FILE#instance?processors=4.
struct WorkloadRequest {
  std::optional<std::string> instance;
  std::optional<std::int64_t> processors;
};

struct ProblemAddress {
  std::string file;
  WorkloadRequest request;
};

// FILE#instance?processors=4 taken apart. A source that is the name of a file is that file; elsewhere the name ends at
// the first '#' or '?' before which a file stands. Nothing if there is no such place. InputError for other options.
std::optional<ProblemAddress> parse_problem_address(const std::string& source);

// What a text looks like before it is parsed.
struct TextOutline {
  std::string_view text;
  char bracket = 0;  // '{' or '[' for what may be JSON
  // Of the outermost object, or of the first object of the outermost list; at most 32, none after "emplace".
  std::vector<std::string_view> keys;

  [[nodiscard]] bool has(std::string_view key) const;
};
TextOutline outline_of(std::string_view text);

struct WorkloadEntry : EntryInfo {
  std::function<bool(const TextOutline& outline)> recognises;
  // Times without a unit are microseconds, or milliseconds where the format says so. InputError with file and place;
  // a file with several instances or open processors lists them where the request does not choose.
  std::function<Problem(std::string_view text, const std::string& file, const WorkloadRequest& request)> read;
};

std::span<const WorkloadEntry> workloads();

// A published workload of any of these formats, else problem JSON. `file` begins every message.
Problem read_problem_text(std::string_view text, const std::string& file, const WorkloadRequest& request = {});
Problem read_problem_file(const ProblemAddress& address);

// dnn-partitioning's {"fpgas": [{"nodes": [..]}, ..], "cpus": [..]} for a problem of that format: node ids are op
// names, the lists are devices acc:i and cpu:i. Nodes that are not listed go where a node of their class is.
Placement read_expert_split(std::string_view text, const std::string& file, const Problem& problem);

// Placement JSON or an expert split.
PlacementFile read_placement_text(std::string_view text, const std::string& file, const Problem& problem);

}  // namespace emplace::formats
