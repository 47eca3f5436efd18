// What `emplace fit` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/result_json.hpp"
#include "fit/fit.hpp"

namespace emplace::app {

struct WhatIf {
  std::int64_t context = 0, sequences = 0;
  std::optional<double> tokens_per_s;  // none: no plan
};

struct FitReport {
  const fit::FitRequest& request;
  fit::Fit fit;
  std::int64_t longest_context = 0;  // if there is no plan
  std::vector<WhatIf> what_if = {};
  bool draws_timeline = false;  // so that the next step does not name it
};

std::string text_of(const FitReport& report);
Json to_json(const FitReport& report);
// One sentence without a full stop; there is no plan.
std::string why_nothing_fits(const FitReport& report);

}  // namespace emplace::app
