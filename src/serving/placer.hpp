// Placers for serving problems: one entry and one file per method, listed in builtin.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/registry.hpp"
#include "serving/cluster.hpp"

namespace emplace::serving {

struct Request {
  const Cluster* cluster = nullptr;
  std::uint64_t seed = 0;
  // Two budgets; a search ends when either is used up, and without any after a number of evaluations of its own. With
  // evaluations only, the result does not depend on the clock or on the number of threads.
  std::optional<double> seconds = {};
  std::optional<std::uint64_t> evaluations = {};
  std::uint64_t slice = 0;        // of a portfolio, so that each has random numbers of its own
  const Layout* start = nullptr;  // where searches begin; null: they choose
  Rate enough = 0;                // a throughput that nothing can exceed, where the search may end; 0: not known
  std::function<bool()> stop = {};
};

struct Step {
  std::string method;
  Rate throughput = 0;
  double seconds = 0;  // since the start of the portfolio
};

struct Result {
  Layout layout;  // empty intervals everywhere if nothing feasible was found
  Rate throughput = 0;
  std::uint64_t evaluations = 0;
  std::optional<Rate> upper_bound;  // certified: no layout has more; the method may have none
  std::string bound_method;
  std::vector<Step> steps;  // of a portfolio: the methods that found more than those before them

  [[nodiscard]] bool feasible() const { return throughput > 0; }
  [[nodiscard]] bool proved_optimal() const { return upper_bound && *upper_bound <= throughput; }
};

struct PlacerEntry : EntryInfo {
  bool quick = true;  // constructs one layout; the portfolio runs all of these first
  std::function<Result(const Request& request, const ConfigTable& options)> place;
};

std::span<const PlacerEntry> placers();

// InputError for an unknown method (the message names the nearest valid one), unknown options, and budgets of zero.
Result place_with(const std::string& method, const Request& request, const ConfigTable& options);

}  // namespace emplace::serving
