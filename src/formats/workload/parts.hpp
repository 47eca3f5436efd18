// Functions that several readers of published workloads use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "emplace/problem/builder.hpp"
#include "formats/json/json.hpp"
#include "formats/workload/workload.hpp"

namespace emplace::formats {

WorkloadEntry dnn_partitioning_workload();
WorkloadEntry moirai_workload();
WorkloadEntry sinnen_workload();
WorkloadEntry stg_workload();
WorkloadEntry het_dag_workload();

inline constexpr double millisecond = 1e-3;
inline constexpr double microsecond = 1e-6;

// Ids in JSON files are from the negative of this to this: whole numbers that a double holds exactly.
inline constexpr std::int64_t largest_json_id = std::int64_t{1} << 53;

// The file's name without folder and extension.
std::string problem_name_of(const std::string& file);

// For files that hold one instance: InputError if the request names another.
void refuse_instance(const WorkloadRequest& request, const std::string& file);
// For files that state the number of processors: InputError if the request gives one.
void refuse_processors(const WorkloadRequest& request, const std::string& place, std::size_t processors);
// The instance of a list that the request names, or the only one.
struct NamedInstance {
  std::string name;
  json::Value value;
};
NamedInstance choose_instance(json::Value list, const json::Place& place, const WorkloadRequest& request);

// A small file can describe a table that would fill the memory (one number for each op, times 255 devices): InputError
// above 2^27 entries. `what` names the dimensions in the message, such as "ops x devices".
void check_table(std::size_t rows, std::size_t columns, const char* what, const std::string& place);

// InputError if the list has another number of elements. `what` ends the number in the message, such as ", one for each
// device".
void check_length(json::Value list, const json::Place& place, std::size_t wanted, std::string_view what = "");

// Converts a time in the file's unit to seconds; InputError if it is negative.
double seconds_at(json::Value value, const json::Place& place, double unit);

// Throws InputError for an edge that was added before.
class EdgeSet {
 public:
  void add(std::uint32_t from, std::uint32_t to, const std::string& place);

 private:
  std::unordered_set<std::uint64_t> edges_;
};

// Processors proc:0, ... joined by links without contention; every tensor has one transfer time for all pairs.
ProblemBuilder processors_with_delays(const std::string& name, std::size_t processors, const std::string& place);
// Adds the tasks of the field "weights", in microseconds on each of the processors; returns their number.
std::size_t add_tasks(const json::Fields& instance, std::size_t processors, ProblemBuilder& builder);

}  // namespace emplace::formats
