#include "table_machine.hpp"

#include <cmath>

#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"
#include "emplace/run/problem_source.hpp"
#include "emplace/search/placer.hpp"

namespace emplace {

namespace {

// The geometric mean of what was added; nothing of nothing.
class GeometricMean {
 public:
  void add(double value) {
    sum_ += std::log(value);
    ++count_;
  }
  [[nodiscard]] std::optional<double> get() const {
    return count_ == 0 ? std::nullopt : std::optional(std::exp(sum_ / static_cast<double>(count_)));
  }

 private:
  double sum_ = 0;
  int count_ = 0;
};

// Of the rows that have both.
std::optional<double> relation(const std::vector<SpeedFactors>& known, const std::string& kind,
                               const std::string& other) {
  GeometricMean mean;
  for (const SpeedFactors& row : known)
    if (row.contains(kind) && row.contains(other)) mean.add(row.at(kind) / row.at(other));
  return mean.get();
}

double factor_of(const std::vector<SpeedFactors>& known, const SpeedFactors& row, const std::string& kind) {
  if (const auto found = row.find(kind); found != row.end()) return found->second;
  GeometricMean by_others;
  for (const auto& [other, factor] : row)
    if (const auto relative = relation(known, kind, other)) by_others.add(factor * *relative);
  if (const auto factor = by_others.get()) return *factor;
  GeometricMean of_kind;
  for (const SpeedFactors& each : known)
    if (each.contains(kind)) of_kind.add(each.at(kind));
  return of_kind.get().value();
}

}  // namespace

std::vector<SpeedFactors> speed_factors(const PublishedTable& table,
                                        const std::vector<std::map<std::string, double>>& times) {
  std::vector<SpeedFactors> known(table.rows.size());
  for (const auto& [kind, method] : table.calibration) {
    bool any = false;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto cell = table.rows[r].published.find(method);
      if (cell == table.rows[r].published.end() || !cell->second.seconds) continue;
      known[r][kind] = *cell->second.seconds / times[r].at(kind);
      any = true;
    }
    if (!any) throw InputError(table.name, "no row has a time of {}, which is to calibrate {}", quote(method), kind);
  }
  std::vector<SpeedFactors> all(table.rows.size());
  for (std::size_t r = 0; r < all.size(); ++r)
    for (const auto& [kind, method] : table.calibration) all[r][kind] = factor_of(known, known[r], kind);
  return all;
}

std::vector<std::map<std::string, double>> calibrating_times(const PublishedTable& table) {
  std::vector<std::map<std::string, double>> times;
  for (const TableRow& row : table.rows) {
    const LoadedProblem loaded = load_problem(row.graph, row.machine, {});
    const Problem* const problems[] = {&loaded.problem};
    const auto evaluator = make_local_evaluator(problems, Scoring{});
    PlacerRequest request;
    request.problem = &loaded.problem;
    request.evaluator = evaluator.get();
    std::map<std::string, double>& of_row = times.emplace_back();
    for (const auto& [kind, method] : table.calibration) {
      const Outcome outcome = place_with(table.method(method)->placer, request, ConfigTable("table")).outcome;
      if (!outcome.timed()) throw InputError(table.name, "{} has no time on {}", quote(method), quote(row.label));
      of_row[kind] = to_seconds(outcome.makespan);
    }
  }
  return times;
}

std::string text_of(const SpeedFactors& factors, int digits) {
  std::vector<std::string> parts;
  for (const auto& [kind, factor] : factors) parts.push_back(fmt::format("{} x {:.{}g}", kind, factor, digits));
  return join(parts, ", ");
}

}  // namespace emplace
