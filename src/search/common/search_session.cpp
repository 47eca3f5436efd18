#include "search/common/search_session.hpp"

#include <algorithm>
#include <limits>

#include "search/common/units.hpp"

namespace emplace::search {

namespace {
constexpr double seconds_between_news = 0.1;
constexpr std::uint64_t least_evaluations = 500;  // with fewer, two searches find less than one of twice the length

Ticks gain(const Outcome& from, const Outcome& to) {
  if (!better(to, from)) return 0;
  return from.feasible() ? from.makespan - to.makespan : total_limit;  // an infeasible start is worse than any time
}

}  // namespace

SearchSession::SearchSession(const PlacerRequest& request, std::string method, std::uint64_t default_evaluations)
    : request_(request),
      method_(std::move(method)),
      most_evaluations_(request.evaluations ? *request.evaluations
                        : request.seconds   ? std::numeric_limits<std::uint64_t>::max()
                                            : default_evaluations),
      deadline_(request.seconds, request.stop) {}

bool SearchSession::exhausted() {
  if (request_.on_progress && deadline_.elapsed() - told_ > seconds_between_news) {
    told_ = deadline_.elapsed();
    request_.on_progress({method_, progress(), best_.evaluations, best_.outcome});
  }
  return best_.evaluations > 0 && (best_.evaluations >= most_evaluations_ || deadline_.passed());
}

double SearchSession::progress(std::uint64_t evaluations) const {
  const double by_count = static_cast<double>(evaluations) / static_cast<double>(most_evaluations_);
  const double by_clock = request_.seconds ? 1 - deadline_.left() / *request_.seconds : 0;
  return std::clamp(std::max(by_count, by_clock), 0.0, 1.0);
}

void SearchSession::begin() {
  if (request_.start == nullptr) return try_quick_placers();
  try_out(*request_.start);
  const bool can_improve = best_.outcome.timed() && best_.outcome.why != Infeasible::split_group;
  if (!can_improve && !exhausted()) {
    Placement mended = Units(*request_.problem).runnable(request_.start->device);
    mended.order = request_.start->order;
    try_out(mended);
  }
  if (!best_.outcome.timed()) try_quick_placers();
  before_search_ = best_.outcome;
}

void SearchSession::try_quick_placers() {
  std::vector<PortfolioEntry> entries;
  for (const char* method : {"heft", "single", "contiguous", "peft", "greedy", "expert"})
    entries.push_back({.method = method, .seed = request_.seed});
  try_placers(entries);
}

std::size_t SearchSession::width(std::size_t wanted) const {
  if (request_.is_job) return 1;
  if (counts_evaluations()) return std::clamp<std::size_t>(evaluations_left() / least_evaluations, 1, wanted);
  return request_.pool == nullptr ? 1 : request_.pool->size();
}

void SearchSession::try_placers(std::span<const PortfolioEntry> entries, double share, const Placement* start) {
  if (entries.empty() || exhausted()) return;
  PlacerRequest common = request_;
  if (start != nullptr)
    common.start = start;
  else if (best_.evaluations > 0)
    common.start = &best_.placement;
  if (request_.seconds) common.seconds = std::max(share * deadline_.left(), least_seconds);
  if (request_.on_progress)
    common.on_progress = [&](const PlacerProgress& news) {
      const std::uint64_t evaluations = best_.evaluations + news.evaluations;
      const bool is_better = news.best.timed() && (best_.evaluations == 0 || better(news.best, best_.outcome));
      request_.on_progress({news.method, progress(evaluations), evaluations, is_better ? news.best : best_.outcome});
    };

  std::vector<PoolJob> jobs;
  const std::uint64_t budget =
      share < 1
          ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share * static_cast<double>(evaluations_left())))
          : evaluations_left();
  for (const PortfolioEntry& entry : entries) {
    PoolJob job{entry.method, entry.options, entry.seed};
    if (counts_evaluations()) {
      if (jobs.size() == budget) break;
      job.evaluations = budget / entries.size() + (jobs.size() < budget % entries.size() ? 1 : 0);
    }
    jobs.push_back(std::move(job));
  }
  const double began = deadline_.elapsed();
  const Outcome from = best_.outcome;
  const std::unique_ptr<PlacerPool> alone = request_.pool == nullptr ? make_local_placer_pool() : nullptr;
  const auto answers = (alone ? *alone : *request_.pool).run(common, jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (answers[i]) take(jobs[i].method, *answers[i], began, from);
}

void SearchSession::take(const std::string& method, const PoolAnswer& answer, double began, const Outcome& from) {
  const PlacerResult& found = answer.result;
  const bool is_new_best = best_.evaluations == 0 || better(found.outcome, best_.outcome);
  best_.evaluations += found.evaluations;
  best_.steps.push_back(
      {method, began + answer.seconds, best_.evaluations, found.outcome, gain(from, found.outcome), is_new_best});
  if (is_new_best) {
    best_.placement = found.placement;
    best_.outcome = found.outcome;
  }
  before_search_ = best_.outcome;
  if (found.proved_optimal && found.outcome == best_.outcome) best_.proved_optimal = true;
  bound({found.lower_bound, found.bound_by.empty() ? method : found.bound_by});
}

void SearchSession::bound(const LowerBound& bound) {
  if (bound.ticks > best_.lower_bound) {
    best_.lower_bound = bound.ticks;
    best_.bound_by = bound.method;
  }
  check_proof();
}

void SearchSession::try_out(const Placement& placement) {
  const evaluate::EvaluationJob job{0, &placement};
  const Outcome outcome = request_.evaluator->evaluate({&job, 1}).front();
  if (best_.evaluations++ > 0) return offer(placement, outcome);
  best_.placement = placement;
  best_.outcome = outcome;
}

void SearchSession::end_search() {
  best_.steps.push_back({method_, deadline_.elapsed(), best_.evaluations, best_.outcome,
                         gain(before_search_, best_.outcome), better(best_.outcome, before_search_)});
}

void SearchSession::check_proof() {
  if (best_.outcome.feasible() && best_.outcome.makespan == best_.lower_bound) best_.proved_optimal = true;
}

void SearchSession::offer(const Placement& placement, const Outcome& outcome) {
  if (!better(outcome, best_.outcome)) return;
  best_.placement = placement;
  best_.outcome = outcome;
  check_proof();
}

}  // namespace emplace::search
