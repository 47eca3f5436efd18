// A pool runs several placers: one after the other in this process, or at the same time, each on its own rank (dist).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/search/placer.hpp"

namespace emplace::search {

struct PoolJob {
  std::string method;
  ConfigTable options = ConfigTable("search");
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> evaluations = {};  // the job's budget, in addition to the seconds that all jobs share
};

struct PoolAnswer {
  PlacerResult result;
  double seconds = 0;  // from the start of all jobs to the end of this one
};

class PlacerPool {
 public:
  virtual ~PlacerPool() = default;
  // How many jobs run at the same time.
  [[nodiscard]] virtual std::size_t size() const = 0;
  // answers[i] belongs to jobs[i], whichever rank ran it and whenever it ended. Everything but method, options, seed
  // and evaluations is taken from `common`; its seconds are for all jobs together. There is no answer if the time was
  // over before the job began (the first job is always run), and if the method is unfit for the problem.
  virtual std::vector<std::optional<PoolAnswer>> run(const PlacerRequest& common, std::span<const PoolJob> jobs) = 0;
};

// Runs the jobs in this process, one after the other.
std::unique_ptr<PlacerPool> make_local_placer_pool();

// Runs one job, in every kind of pool; returns nothing if the method refuses the problem.
std::optional<PlacerResult> run_job(const PlacerRequest& common, const PoolJob& job);

}  // namespace emplace::search
