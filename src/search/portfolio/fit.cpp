#include "search/portfolio/fit.hpp"

#include <algorithm>

#include "search/common/predicted_time.hpp"

namespace emplace::search {

void Fit::run_quick_placers(std::size_t width) {
  if (session_.counts_evaluations() || (width > 1 && roles_ == Roles::classic))
    return session_.try_placers(members(roles_, PlacerRole::quick, request_));
  if (width > 1) return run_in_parallel(width);
  const double for_searches = seconds_for_searches();
  for (const std::string& method : quick_placers_by_time(*request_.problem, request_.objective)) {
    if (roles_ == Roles::classic && !is_classic(method)) continue;
    if (session_.exhausted()) return;
    const bool found_any = session_.result().evaluations > 0;
    const bool is_feasible = found_any && session_.outcome().feasible();
    const PredictedTime predicted = predicted_time(method, *request_.problem);
    const double left = *session_.seconds_left();
    const double for_quick = left - (is_feasible ? for_searches : 0);
    if (predicted.first * pace_ > for_quick && found_any) continue;
    const bool is_one = predicted.first == predicted.whole;
    const double share = is_one ? 1 : std::min(1.0, std::max(0.25, 1.25 * predicted.first * pace_ / for_quick));
    const PortfolioEntry entry{.method = method, .seed = request_.seed};
    session_.try_placers({&entry, 1}, share * for_quick / left);
    if (is_one) compare(predicted.whole, left - *session_.seconds_left());
  }
}

void Fit::run_in_parallel(std::size_t width) {
  const double left = *session_.seconds_left(), for_quick = left - seconds_for_searches();
  std::vector<PortfolioEntry> first, rest;
  double sum = 0;  // of the predicted times of `first`
  for (const std::string& method : quick_placers_by_time(*request_.problem, request_.objective)) {
    const double seconds = predicted_time(method, *request_.problem).whole;
    const bool fits = first.empty() || sum / static_cast<double>(width) + seconds <= for_quick;
    if (fits) sum += seconds;
    (fits ? first : rest).push_back({.method = method, .seed = request_.seed});
  }
  session_.try_placers(first, for_quick / left);
  if (session_.result().evaluations == 0 || !session_.outcome().feasible()) session_.try_placers(rest);
}

double Fit::seconds_for_searches() const {
  constexpr double share = 0.8;
  const double reserve = share * *session_.seconds_left();
  const bool can_begin = margin * predicted_time("climb", *request_.problem).whole <= reserve;
  return roles_ == Roles::all && can_begin ? reserve : 0;
}

std::int64_t Fit::keep_fitting(std::vector<PortfolioEntry>& entries, double share, std::int64_t rounds) const {
  const auto begin = [&](const PortfolioEntry& entry) {
    return pace_ * predicted_time(entry.method, *request_.problem).whole;
  };
  std::vector<double> times;
  for (const PortfolioEntry& entry : entries) times.push_back(begin(entry));
  std::ranges::sort(times);
  const double most = share * *session_.seconds_left() / margin;
  double sum = 0, longest = -1;
  for (const double time : times)
    if (sum + time <= most) {
      sum += time;
      longest = time;
    }
  std::erase_if(entries, [&](const PortfolioEntry& entry) { return begin(entry) > longest; });
  return sum * static_cast<double>(rounds) <= most ? rounds : static_cast<std::int64_t>(std::max(1.0, most / sum));
}

bool Fit::has_time_for_bounds() const {
  constexpr double of_pair = 40e-9;
  const Problem& problem = *request_.problem;
  const auto items = static_cast<double>(problem.op_count() + problem.edge_count());
  return pace_ * of_pair * items * static_cast<double>(problem.device_count()) < *session_.seconds_left() / 4;
}

void Fit::compare(double predicted, double measured) {
  constexpr double least = 0.05, fastest = 0.25, slowest = 8;  // below `least` seconds, times say little
  predicted_ += predicted;
  measured_ += measured;
  if (predicted_ > least) pace_ = std::clamp(measured_ / predicted_, fastest, slowest);
}

}  // namespace emplace::search
