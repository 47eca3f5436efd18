// Reads published workloads (task graphs and placement instances) as Problems; each format has one entry and one file.
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

// The part after the file's name in FILE#instance?processors=4.
struct WorkloadRequest {
  std::optional<std::string> instance;
  std::optional<std::int64_t> processors;
};

struct ProblemAddress {
  std::string file;
  WorkloadRequest request;
};

// Parses FILE#instance?processors=4. A source that is the name of an existing file is that file; otherwise the name
// ends at the first '#' or '?' that follows the name of an existing file. Returns nothing if there is no such file.
// InputError for other options.
std::optional<ProblemAddress> parse_problem_address(const std::string& source);

// The features of a text by which its format is recognised before it is parsed.
struct TextOutline {
  std::string_view text;
  char bracket = 0;  // '{' or '[' if the text may be JSON
  // The keys of the outermost object, or of the first object of the outermost list; at most 32, none after "emplace".
  std::vector<std::string_view> keys;

  [[nodiscard]] bool has(std::string_view key) const;
};
TextOutline outline_of(std::string_view text);

struct WorkloadEntry : EntryInfo {
  std::function<bool(const TextOutline& outline)> recognises;
  // Times without a unit are microseconds, or milliseconds if the format specifies so. Throws InputError with file and
  // place; if the request names no instance or processor count and the file needs one, the message lists the choices.
  std::function<Problem(std::string_view text, const std::string& file, const WorkloadRequest& request)> read;
};

std::span<const WorkloadEntry> workloads();
// Whether the text may be a problem: JSON of an object, or a workload that one of them recognises.
bool is_problem_text(std::string_view text);

// Reads a published workload of any of these formats, or else problem JSON. Every message begins with `file`.
// `lacks`: see read_problem_json.
Problem read_problem_text(std::string_view text, const std::string& file, const WorkloadRequest& request = {},
                          std::vector<std::string>* lacks = nullptr);
Problem read_problem_file(const ProblemAddress& address, std::vector<std::string>* lacks = nullptr);

// Reads dnn-partitioning's {"fpgas": [{"nodes": [..]}, ..], "cpus": [..]} for a problem of that format: node ids are op
// names, the lists are devices acc:i and cpu:i. A node that is not listed is placed with a node of its colour class.
Placement read_expert_split(std::string_view text, const std::string& file, const Problem& problem);

// Reads placement JSON or an expert split.
PlacementFile read_placement_text(std::string_view text, const std::string& file, const Problem& problem);

}  // namespace emplace::formats
