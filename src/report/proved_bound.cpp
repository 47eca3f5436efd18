#include "report/proved_bound.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "base/files.hpp"
#include "evaluate/cached/cached_evaluator.hpp"

namespace emplace::report {

namespace {

constexpr std::size_t largest_file = 2000;  // bytes; a file that we wrote has some 200

std::string identity_of(const Problem& problem, const evaluate::Scoring& scoring) {
  return evaluate::evaluation_identity(std::array{&problem}, scoring, {});
}

std::optional<search::LowerBound> kept_bound(const std::string& file, const std::string& identity, double seconds) {
  try {
    if (!file_exists(file)) return std::nullopt;
    const nlohmann::json json = nlohmann::json::parse(read_file(file, largest_file));
    if (json.at("identity").get<std::string>() != identity || json.at("seconds").get<double>() < seconds)
      return std::nullopt;
    if (!json.at("lower_bound_ps").is_number_integer()) return std::nullopt;
    search::LowerBound bound{json.at("lower_bound_ps").get<Ticks>(), json.at("method").get<std::string>()};
    return bound.ticks < 0 ? std::nullopt : std::optional(bound);
  } catch (const nlohmann::json::exception&) {  // not a file that we wrote
    return std::nullopt;
  } catch (const std::runtime_error&) {  // it cannot be read
    return std::nullopt;
  }
}

void keep_bound(const std::string& file, const std::string& identity, double seconds, const search::LowerBound& bound) {
  const nlohmann::ordered_json json = {
      {"identity", identity}, {"seconds", seconds}, {"lower_bound_ps", bound.ticks}, {"method", bound.method}};
  try {
    write_file(file, json.dump() + "\n");
  } catch (
      const EnvironmentError&) {  // the folder is read-only or the disk is full: the bound is found again next time
  }
}

}  // namespace

search::LowerBound proved_bound(const Problem& problem, const evaluate::Scoring& scoring, double seconds,
                                const std::string& file) {
  const std::string identity = file.empty() ? "" : identity_of(problem, scoring);
  if (!file.empty())
    if (std::optional<search::LowerBound> kept = kept_bound(file, identity, seconds)) return *kept;
  const search::BoundReport report = search::lower_bounds(problem, scoring.objective, seconds);
  search::LowerBound bound = report.infeasible ? search::lower_bound(problem, scoring.objective) : report.best();
  if (!file.empty()) keep_bound(file, identity, seconds, bound);
  return bound;
}

}  // namespace emplace::report
