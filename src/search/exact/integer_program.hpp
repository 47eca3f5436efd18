// Mixed integer programs, solved by CBC; the only door to it.
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

  // A column's number. Minimised: the sum of cost x value.
  int add_column(double lower, double upper, double cost, bool integer);
  // lower <= sum of coefficient x column <= upper; no column twice.
  void add_row(std::span<const std::pair<int, double>> terms, double lower, double upper);
  [[nodiscard]] std::size_t columns() const { return cost.size(); }
  [[nodiscard]] std::size_t rows() const { return row_lower.size(); }

  std::vector<double> lower, upper, cost;  // columns
  std::vector<bool> integer;               // columns
  std::vector<int> row_begin{0}, column_of;
  std::vector<double> coefficient, row_lower, row_upper;
};

// Sum of size x column <= memory, for items of `bytes` that must fit. Counted in whole units, a millionth of the memory
// at least and rounded down: coefficients of 1e-7 beside 1000 let CBC call feasible programs infeasible. So a row may
// let pass what does not quite fit, and forbids nothing that does. Items of size 0 need no term.
struct MemoryRow {
  std::vector<double> size;
  double memory = 0;
};
MemoryRow memory_row(std::span<const std::int64_t> bytes, std::int64_t memory);

struct IntegerLimits {
  double seconds = 600;
  std::int64_t nodes = std::numeric_limits<std::int32_t>::max();  // of the search tree
  std::function<bool()> stop = {};                                // asked between nodes; true ends the search
};

struct IntegerAnswer {
  bool finished = false;         // it searched everything: what it found is the best there is
  std::vector<double> solution;  // columns; empty: found none
  double objective = 0;          // of the solution
  double bound = 0;              // no solution is below
};

// CBC repeats itself for the same program and limit of nodes. Its tolerances are 1e-6 and below: scale the program so
// that this is small. It prints nothing and leaves signals alone.
IntegerAnswer minimise(const IntegerProgram& program, const IntegerLimits& limits);

}  // namespace emplace::search
