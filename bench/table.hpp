// What the benchmarks of a program named .../ops:N/... measured, as one table: a row a name, a column a size.
#pragma once

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emplace {

inline std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "unknown";
}

// Prints every run as it ends, and the table at the end. Of repeated runs it takes the median.
class TableReporter : public benchmark::ConsoleReporter {
 public:
  explicit TableReporter(std::string counter)
      : ConsoleReporter(isatty(STDOUT_FILENO) != 0 ? OO_Defaults : OO_Tabular), counter_(std::move(counter)) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const auto found = run.counters.find(counter_);
      const bool wanted = run.run_type == Run::RT_Iteration ? run.repetitions <= 1 : run.aggregate_name == "median";
      if (run.error_occurred || !wanted || found == run.counters.end()) continue;
      std::string row = run.run_name.function_name;
      const std::size_t at = row.find("/ops:");
      if (at == std::string::npos) continue;
      const std::size_t end = std::min(row.find('/', at + 1), row.size());
      const auto ops = static_cast<std::uint32_t>(std::stoul(row.substr(at + 5, end - at - 5)));
      row.erase(at, end - at);
      if (!figures_.contains(row)) rows_.push_back(row);
      figures_[row][ops] = found->second;
      if (std::ranges::find(sizes_, ops) == sizes_.end()) sizes_.push_back(ops);
    }
  }

  void Finalize() override {
    ConsoleReporter::Finalize();
    std::size_t width = 0;
    for (const std::string& row : rows_) width = std::max(width, row.size());
    std::ranges::sort(sizes_);
    // 16 behind 4.
    std::ranges::sort(rows_,
                      [](const std::string& a, const std::string& b) { return strverscmp(a.c_str(), b.c_str()) < 0; });
    char cell[32];
    GetOutputStream() << "\n" << counter_ << std::string(width > counter_.size() ? width - counter_.size() : 0, ' ');
    for (const std::uint32_t ops : sizes_) {
      std::snprintf(cell, sizeof cell, "%9u ops", ops);
      GetOutputStream() << cell;
    }
    GetOutputStream() << "\n";
    for (const std::string& row : rows_) {
      GetOutputStream() << row << std::string(width - row.size(), ' ');
      for (const std::uint32_t ops : sizes_) {
        const auto figure = figures_[row].find(ops);
        if (figure == figures_[row].end())
          std::snprintf(cell, sizeof cell, "%13s", "");
        else
          std::snprintf(cell, sizeof cell, "%13.3g", figure->second);
        GetOutputStream() << cell;
      }
      GetOutputStream() << "\n";
    }
  }

 private:
  std::string counter_;
  std::vector<std::string> rows_;
  std::vector<std::uint32_t> sizes_;
  std::map<std::string, std::map<std::uint32_t, double>> figures_;
};

// What main() does once the benchmarks are registered.
inline int run_benchmarks(int argc, char** argv, const char* counter) {
  const bool for_programs = std::any_of(argv, argv + argc, [](std::string_view argument) {
    return argument == "--benchmark_format=json" || argument == "--benchmark_format=csv";
  });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("processor", processor());
  benchmark::AddCustomContext("compiler", EMPLACE_COMPILER);
  TableReporter reporter(counter);
  if (for_programs)
    benchmark::RunSpecifiedBenchmarks();
  else
    benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}

}  // namespace emplace
