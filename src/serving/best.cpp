// The portfolio: the quick placers, the bound, then the searches in slices of the budget until they reach the bound.
#include <algorithm>

#include "search/common/deadline.hpp"
#include "serving/bound.hpp"
#include "serving/chains.hpp"
#include "serving/methods.hpp"

namespace emplace::serving {

namespace {

struct NoPortfolioOptions {};
void describe(NoPortfolioOptions&, OptionVisitor&) {}

// The share of the seconds that the bound may take, and into how many slices the searches divide the budget.
constexpr double bound_share = 0.3;
constexpr std::uint64_t slices = 8;
// Of so few layouts all are tried.
constexpr double layouts_of_exact = 100'000;

class Portfolio {
 public:
  explicit Portfolio(const Request& request) : request_(request), deadline_(request.seconds, request.stop) {
    result_.layout.resize(request.cluster->size());
  }

  Result run() {
    for (const PlacerEntry& entry : placers())
      if (entry.quick) take(entry.name, entry.place(request_, {}));
    bound();
    if (!settled() && has_few_layouts(*request_.cluster, layouts_of_exact)) take_exact();
    const std::uint64_t budget = request_.evaluations.value_or(request_.seconds ? 0 : default_evaluations);
    const std::uint64_t used = result_.evaluations;
    for (std::uint64_t slice = 0; slice < slices && !settled(); ++slice) {
      // Evenly over what is left, as searches may end early.
      Request part = request_;
      part.enough = result_.upper_bound.value_or(0);
      part.start = result_.feasible() ? &result_.layout : nullptr;
      part.slice = slice + 1;
      const std::uint64_t left = slices - slice;
      if (request_.seconds)
        part.seconds = std::max(deadline_.left() / static_cast<double>(left), search::least_seconds);
      if (budget > 0) {
        const std::uint64_t spent = result_.evaluations - used;
        if (budget <= used + spent) break;
        part.evaluations = (budget - used - spent) / left;
        if (*part.evaluations == 0) continue;
      }
      const Layout start = result_.layout;
      if (part.start != nullptr) part.start = &start;
      const char* const method = slice % 2 == 0 ? "stages" : "intervals";
      take(method, place_with(method, part, {}));
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool settled() const { return result_.proved_optimal() || deadline_.passed(); }

  void take(const std::string& method, Result found) {
    result_.evaluations += found.evaluations;
    if (found.throughput <= result_.throughput) return;
    result_.throughput = found.throughput;
    result_.layout = std::move(found.layout);
    result_.steps.push_back({method, result_.throughput, deadline_.elapsed()});
  }

  // It counts like the quick placers: the searches' budget begins after it.
  void take_exact() {
    Request all = request_;
    all.evaluations.reset();
    if (request_.seconds) all.seconds = std::max(deadline_.left(), search::least_seconds);
    Result found = place_with("exact", all, {});
    if (found.upper_bound && *found.upper_bound < *result_.upper_bound) {
      result_.upper_bound = found.upper_bound;
      result_.bound_method = found.bound_method;
    }
    take("exact", std::move(found));
  }

  void bound() {
    BoundLimits limits{.seconds = {}, .stop = request_.stop};
    if (request_.seconds) limits.seconds = std::max(bound_share * deadline_.left(), search::least_seconds);
    const UpperBound bound = upper_bound(*request_.cluster, result_.throughput, limits);
    result_.upper_bound = bound.rate;
    result_.bound_method = bound.method;
  }

  const Request& request_;
  search::Deadline deadline_;
  Result result_;
};

}  // namespace

PlacerEntry best_placer() {
  PlacerEntry entry;
  entry.name = "best";
  entry.summary = "The quick placers, a certified bound, and both searches until they reach it or the budget ends.";
  entry.quick = false;
  entry.options = list_options<NoPortfolioOptions>;
  entry.place = [](const Request& request, const ConfigTable& options) {
    read_options<NoPortfolioOptions>(options);
    return Portfolio(request).run();
  };
  return entry;
}

}  // namespace emplace::serving
