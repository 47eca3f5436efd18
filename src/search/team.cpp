#include "emplace/search/team.hpp"

#include <algorithm>

#include "deadline.hpp"

namespace emplace {

namespace {

class LocalTeam final : public Team {
 public:
  [[nodiscard]] std::size_t size() const override { return 1; }

  std::vector<std::optional<TeamAnswer>> run(const PlacerRequest& common, std::span<const TeamJob> jobs) override {
    const Deadline deadline(common.seconds, common.stop);
    std::vector<std::optional<TeamAnswer>> answers(jobs.size());
    for (std::size_t i = 0; i < jobs.size() && (i == 0 || !deadline.passed()); ++i) {
      PlacerRequest request = common;
      if (common.seconds) request.seconds = std::max(deadline.left(), least_seconds);
      if (auto result = run_job(request, jobs[i])) answers[i] = {std::move(*result), deadline.elapsed()};
    }
    return answers;
  }
};

}  // namespace

std::unique_ptr<Team> make_local_team() { return std::make_unique<LocalTeam>(); }

std::optional<PlacerResult> run_job(const PlacerRequest& common, const TeamJob& job) {
  PlacerRequest request = common;
  request.seed = job.seed;
  request.evaluations = job.evaluations;
  request.team = nullptr;
  request.is_job = true;
  try {
    return place_with(job.method, request, job.options);
  } catch (const InputError&) {  // it is not for such problems: the options are ours
    return std::nullopt;
  }
}

}  // namespace emplace
