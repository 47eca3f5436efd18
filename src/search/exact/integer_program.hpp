// Mixed integer programs, solved by CBC. No other header uses CBC.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace emplace::search {

struct IntegerProgram {
  static constexpr double unlimited = std::numeric_limits<double>::infinity();

  // Adds a column and returns its number. The sum of cost x value is minimised.
  int add_column(double lower, double upper, double cost, bool integer);
  // Adds the row lower <= sum of coefficient x column <= upper; no column may occur twice.
  void add_row(std::span<const std::pair<int, double>> terms, double lower, double upper);
  [[nodiscard]] std::size_t columns() const { return cost.size(); }
  [[nodiscard]] std::size_t rows() const { return row_lower.size(); }

  std::vector<double> lower, upper, cost;  // columns
  std::vector<bool> integer;               // columns
  std::vector<int> row_begin{0}, column_of;
  std::vector<double> coefficient, row_lower, row_upper;
};

// The row "sum of size x column <= memory", for items of `bytes` that must fit. Sizes are rounded down to whole units
// of at least a millionth of the memory, because with coefficients of 1e-7 beside 1000 CBC reports feasible programs as
// infeasible. So a row may allow items that slightly exceed the memory, but never forbids items that fit. Items of size
// 0 need no term.
struct MemoryRow {
  std::vector<double> size;
  double memory = 0;
};
MemoryRow memory_row(std::span<const std::int64_t> bytes, std::int64_t memory);

struct IntegerLimits {
  double seconds = 600;
  std::int64_t nodes = std::numeric_limits<std::int32_t>::max();  // of the search tree
  std::function<bool()> stop = {};                                // called every 10 ms; true ends the search
  // Branches at once, without cuts, heuristics and trial branches: for programs in which these cost more than they
  // gain.
  bool plain_branching = false;
};

struct IntegerAnswer {
  bool finished = false;         // the search is complete: the solution is optimal, or there is none
  bool failed = false;           // CBC crashed, with and without cuts; then nothing else is known
  std::vector<double> solution;  // one value per column; empty: none found
  double objective = 0;          // of the solution
  double bound = 0;              // lower bound of all solutions; 0 if not known, since objectives are times
};

// CBC gives the same result for the same program and limit of nodes. Its tolerances are at most 1e-6: scale the program
// so that this is small. Nothing else is printed, and no signal handlers are installed. CBC runs in a child process. If
// it crashes, a warning says so, and it starts once again without cuts.
IntegerAnswer minimise(const IntegerProgram& program, const IntegerLimits& limits);
// The same in this process, which a crash of CBC ends; it calls `stop` at every step of CBC and of CLP.
IntegerAnswer minimise_here(const IntegerProgram& program, const IntegerLimits& limits, bool cuts = true);

}  // namespace emplace::search
