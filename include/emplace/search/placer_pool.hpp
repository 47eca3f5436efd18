// Placers that run at the same time, here one after the other or each on a rank of its own (dist).
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
  std::optional<std::uint64_t> evaluations = {};  // the job's budget, beside the seconds that all jobs share
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
  // answers[i] belongs to jobs[i], whoever ran it and whenever it ended. Everything but method, options, seed and
  // evaluations is as `common` has it; its seconds are for all jobs together. Nothing where they ended before the job
  // began (the first is always run), and where the method has no answer to the problem.
  virtual std::vector<std::optional<PoolAnswer>> run(const PlacerRequest& common, std::span<const PoolJob> jobs) = 0;
};

// Runs the jobs in this process, one after the other.
std::unique_ptr<PlacerPool> make_local_placer_pool();

// One job as every pool runs it: nothing if the method refuses the problem.
std::optional<PlacerResult> run_job(const PlacerRequest& common, const PoolJob& job);

}  // namespace emplace::search
