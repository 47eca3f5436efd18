#include "experiment/tables/table_machine.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/simulate/engine.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/run/placing_backend.hpp"
#include "experiment/tables/reproduction.hpp"

namespace emplace::experiment {

namespace {

// The geometric mean of the added values; none if there are none.
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

// The factor of a row on a kind of device: published time / ours; none if the row has no time in the kind's column.
std::optional<double> factor_of_row(const PublishedTable& table, const CalibratingRuns& runs, std::size_t r,
                                    const std::string& kind, const std::string& method) {
  const auto cell = table.rows[r].published.find(method);
  if (cell == table.rows[r].published.end() || !cell->second.seconds) return std::nullopt;
  return *cell->second.seconds / runs[r].at(kind).seconds;
}

// The row's factor, or if it has no time, that of the row which it is like.
std::optional<double> own_factor(const PublishedTable& table, const CalibratingRuns& runs, std::size_t r,
                                 const std::string& kind, const std::string& method) {
  if (const auto factor = factor_of_row(table, runs, r, kind, method)) return factor;
  const TableRow* const like = table.row(table.rows[r].like);
  if (like == nullptr) return std::nullopt;
  return factor_of_row(table, runs, static_cast<std::size_t>(like - table.rows.data()), kind, method);
}

// The factor of the kind over all rows of the table.
double factor_of_table(const PublishedTable& table, const CalibratingRuns& runs, const std::string& kind,
                       const std::string& method) {
  GeometricMean mean;
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    if (const auto factor = factor_of_row(table, runs, r, kind, method)) mean.add(*factor);
  const auto factor = mean.get();
  if (!factor) throw InputError(table.name, "no row has a time of {}, which calibrates {}", quote(method), kind);
  return *factor;
}

std::optional<Bytes> memory_of(const PublishedTable& table, const CalibratingRuns& runs, const std::string& kind,
                               const std::string& method) {
  std::optional<Bytes> most;
  Bytes fits = 0;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto cell = table.rows[r].published.find(method);
    if (cell == table.rows[r].published.end()) continue;
    const Bytes peak = runs[r].at(kind).peak;
    if (cell->second.seconds)
      fits = std::max(fits, peak);
    else
      most = std::min(most.value_or(peak - 1), peak - 1);
  }
  return most && *most >= fits && *most > 0 ? most : std::nullopt;
}

}  // namespace

std::vector<Scales> device_scales(const PublishedTable& table, const CalibratingRuns& runs) {
  std::vector<Scales> all(table.rows.size());
  for (const auto& [kind, method] : table.calibration) {
    const double of_table = factor_of_table(table, runs, kind, method);
    const auto memory = memory_of(table, runs, kind, method);
    for (std::size_t r = 0; r < all.size(); ++r) {
      const auto own = table.calibrates_each_row ? own_factor(table, runs, r, kind, method) : std::nullopt;
      all[r][kind] = {own.value_or(of_table), memory};
    }
  }
  return all;
}

CalibratingRuns calibrating_runs(const PublishedTable& table) {
  CalibratingRuns runs;
  for (const TableRow& row : table.rows) {
    const source::LoadedProblem loaded = source::load_problem(row.graph, row.machine, {});
    const Problem& problem = loaded.problem;
    const PlacingBackend here = make_placing_backend(nullptr, problem, evaluate::Scoring{});
    const search::PlacerRequest request = request_for(loaded, evaluate::Scoring{}, here);
    const auto engine = simulate::make_exact_engine(problem, Schedule::fifo);
    auto& of_row = runs.emplace_back();
    for (const auto& [kind, method] : table.calibration) {
      const search::PlacerResult placed =
          search::place_with(table.method(method)->placer, request, ConfigTable("table"));
      Usage usage;
      engine->evaluate(placed.placement, {.usage = &usage});
      if (!placed.outcome.timed())
        throw InputError(table.name, "{} has no time on {}", quote(method), quote(row.label));
      CalibratingRun& run = of_row[kind];
      run.seconds = to_seconds(placed.outcome.makespan);
      for (std::size_t d = 0; d < problem.device_count(); ++d)
        if (problem.devices[d].kind == kind) run.peak = std::max(run.peak, usage.device_peak[d]);
    }
  }
  return runs;
}

std::string text_of(const Scales& scales, int digits) {
  std::vector<std::string> parts;
  for (const auto& [kind, scale] : scales)
    parts.push_back(fmt::format("{} x {:.{}g}{}", kind, scale.time, digits,
                                scale.memory ? fmt::format(" with {}", human_bytes(*scale.memory)) : ""));
  return join(parts, ", ");
}

}  // namespace emplace::experiment
