// Reproduces a published table: every cell is a separate job, whose result is kept in a folder; the table then has our
// numbers beside the published ones.
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

// The result of a cell with all its seeds.
enum class CellStatus : std::uint8_t {
  ok,          // the median over its seeds is the time of a feasible placement
  oom,         // the placement does not fit into memory
  infeasible,  // infeasible for another reason
  unfit,       // the method cannot place this problem
  missing,     // not made yet
};
const char* name_of(CellStatus status);
// "confirmed", "unconfirmed" or "OOM".
const char* status_of(const Published& published);

struct CellFigures {
  std::string method;
  std::optional<Published> published = {};
  CellStatus status = CellStatus::missing;
  // Seconds for a step: the median over the seeds and its 95 % bootstrap interval; none unless the status is ok.
  std::optional<double> ours = {}, low = {}, high = {};
  std::string reason = {};                      // set if the status is not ok
  std::optional<double> published_search = {};  // wall-clock seconds of the published search
  double seconds_spent = 0;                     // by all seeds
  std::size_t seeds = 0;                        // number of seeds made
  bool calibrates = false;                      // it was used to calibrate the machine, so it is not a result
};

struct RowFigures {
  std::string label, model;
  std::vector<CellFigures> cells = {};                      // one for each method of the row, in the table's order
  CellFigures bound = {};                                   // certified
  CellFigures best = {};                                    // found by the portfolio placer `best`
  std::map<std::string, machine::DeviceScale> scales = {};  // by kind of device, relative to the machine's file
};

// "cpu x 1.0352, gpu x 2.21 with 8.2 GiB", for files and people; "" for no scales.
std::string text_of(const std::map<std::string, machine::DeviceScale>& scales, int digits);

// How similar our table is to the published one, without the cells used for calibration.
struct Fidelity {
  // Spearman correlation of the methods' times for each row (none with fewer than three in both); OOM ranks last.
  std::vector<std::optional<double>> rank_correlation;
  std::size_t orderings = 0, orderings_agree = 0;  // pairs of methods in a row whose published times differ
  std::optional<std::size_t> tuned_agree;  // the same where METHOD:tuned stands for METHOD; none in a table without
  std::optional<double> relative_error;    // median of |ours / published - 1| over cells with both times
  std::size_t oom = 0, oom_agree = 0;      // cells that are OOM in at least one table, and in both
};

struct Reproduction {
  PublishedTable table;
  std::vector<RowFigures> rows;
  Fidelity fidelity;
  bool quick = false;
  std::size_t jobs = 0, jobs_done = 0;  // a job is one seed of a cell, or a training that cells need
  std::string undone = {};              // the first job that this machine could not do, and why; or ""
  [[nodiscard]] bool finished() const { return jobs == jobs_done; }
};

struct ReproductionSession {
  std::string folder;
  std::string files = {};  // folder of the problems that are given as files
  bool quick = false;
  dist::World* world = nullptr;  // if null or of one rank, this process makes the cells one after the other
  std::size_t ranks_per_cell = 1;
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  bool show_progress = true;
};

// Does the jobs whose results are not in the folder, until all are done, a stop is requested or the deadline is near.
// InUse if a live process works in the folder; InputError if the problems of the table cannot be read.
Reproduction reproduce(const PublishedTable& table, const ReproductionSession& session);

// Runs on ranks other than 0: makes cells for reproduce() until it has no more.
void make_cells(dist::World& world);

// The median, and the 95 % bootstrap interval: that of the medians of all resamples of the same size with replacement.
// It is computed exactly, since the probability that a resample's median is at least a value is a binomial one. There
// must be at least one value; infinite values are allowed.
struct MedianInterval {
  double median, low, high;
};
MedianInterval median_interval(std::vector<double> values);

Fidelity fidelity_of(const std::vector<RowFigures>& rows);

}  // namespace emplace::experiment
