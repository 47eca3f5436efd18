// A published table made again: every cell as a job of its own, what came of it in a folder, and all of it beside the
// published numbers.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emplace/dist/world.hpp"
#include "experiment/tables/cell.hpp"
#include "experiment/tables/published_table.hpp"
#include "machine/rescale.hpp"

namespace emplace::experiment {

// A cell after all its seeds.
enum class CellStatus : std::uint8_t {
  ok,          // the median of its seeds is a feasible placement's time
  oom,         // it is short of memory
  infeasible,  // for another reason
  unfit,       // the method has no answer to this problem
  missing,     // not made yet
};
const char* name_of(CellStatus status);
// "confirmed", "unconfirmed" or "OOM".
const char* status_of(const Published& published);

struct CellFigures {
  std::string method;
  std::optional<Published> published = {};
  CellStatus status = CellStatus::missing;
  // Seconds a step: the median of the seeds and the 95 % bootstrap interval of that; none unless the status is ok.
  std::optional<double> ours = {}, low = {}, high = {};
  std::string reason = {};                      // where the status is not ok
  std::optional<double> published_search = {};  // seconds of wall clock
  double seconds_spent = 0;                     // of all seeds
  std::size_t seeds = 0;                        // that were made
  bool calibrates = false;                      // it was used to calibrate the machine: no result
};

struct RowFigures {
  std::string label, model;
  std::vector<CellFigures> cells = {};                      // one a method that the row has, in the table's order
  CellFigures bound = {};                                   // certified
  CellFigures best = {};                                    // of the portfolio
  std::map<std::string, machine::DeviceScale> scales = {};  // by kind of device, beside what the machine's file says
};

// "cpu x 1.0352, gpu x 2.21 with 8.2 GiB": for files and people; "" without any.
std::string text_of(const std::map<std::string, machine::DeviceScale>& scales, int digits);

// How like the published table ours is, without the columns that calibrate.
struct Fidelity {
  // Of the methods' times, row by row (none with fewer than three in both); OOM is slower than any time.
  std::vector<std::optional<double>> rank_correlation;
  std::size_t orderings = 0, orderings_agree = 0;  // pairs of methods in a row that differ as published
  std::optional<double> relative_error;            // median of |ours / published - 1| where both are times
  std::size_t oom = 0, oom_agree = 0;              // cells that are OOM in one of the two, and in both
};

struct Reproduction {
  PublishedTable table;
  std::vector<RowFigures> rows;
  Fidelity fidelity;
  bool quick = false;
  std::size_t jobs = 0, jobs_done = 0;  // a cell's seed each, or a training that cells wait for
  std::string undone = {};              // the first job that could not be made here, and why; or empty
  [[nodiscard]] bool finished() const { return jobs == jobs_done; }
};

struct ReproductionSession {
  std::string folder;
  std::string files = {};  // the folder of the problems that are files
  bool quick = false;
  dist::World* world = nullptr;  // null, or of one rank: cells are made here, one after the other
  std::size_t ranks_per_cell = 1;
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  bool show_progress = true;
};

// Makes what the folder does not hold yet, until all is there, a stop is requested or the deadline near. InUse where
// a live process works in the folder; InputError for a table whose problems cannot be read.
Reproduction reproduce(const PublishedTable& table, const ReproductionSession& session);

// Ranks other than 0: cells for reproduce(), as long as it has any.
void make_cells(dist::World& world);

// Median, and the 95 % interval of the medians of all samples of as many, drawn with replacement; which is exact, as a
// sample's median is no less than a value with a binomial probability. Infinite values are allowed; at least one value.
struct MedianInterval {
  double median, low, high;
};
MedianInterval median_interval(std::vector<double> values);

Fidelity fidelity_of(const std::vector<RowFigures>& rows);

}  // namespace emplace::experiment
