#include "search/common/placer_pool.hpp"

#include <algorithm>

#include "search/common/deadline.hpp"

namespace emplace::search {

namespace {

class LocalPlacerPool final : public PlacerPool {
 public:
  [[nodiscard]] std::size_t size() const override { return 1; }

  std::vector<std::optional<PoolAnswer>> run(const PlacerRequest& common, std::span<const PoolJob> jobs) override {
    const Deadline deadline(common.seconds, common.stop);
    std::vector<std::optional<PoolAnswer>> answers(jobs.size());
    for (std::size_t i = 0; i < jobs.size() && (i == 0 || !deadline.passed()); ++i) {
      PlacerRequest request = common;
      if (common.seconds) request.seconds = std::max(deadline.left(), least_seconds);
      if (auto result = run_job(request, jobs[i])) answers[i] = {std::move(*result), deadline.elapsed()};
    }
    return answers;
  }
};

}  // namespace

std::unique_ptr<PlacerPool> make_local_placer_pool() { return std::make_unique<LocalPlacerPool>(); }

std::optional<PlacerResult> run_job(const PlacerRequest& common, const PoolJob& job) {
  PlacerRequest request = common;
  request.seed = job.seed;
  request.evaluations = job.evaluations;
  request.pool = nullptr;
  request.is_job = true;
  try {
    return place_with(job.method, request, job.options);
  } catch (const InputError&) {  // the method is unfit for the problem; the options are known to be valid
    return std::nullopt;
  }
}

}  // namespace emplace::search
