// Logs warnings about placements that could not be measured.
#pragma once

#include <memory>

#include "emplace/evaluate/evaluator.hpp"

namespace emplace::evaluate {

// Passes every evaluation on to `evaluator`. Logs each reason why a placement could not be measured once, with the
// number of the first evaluation that failed for it; and one more warning if no placement of the first batch could be
// measured.
std::unique_ptr<Evaluator> make_reporting_evaluator(std::unique_ptr<Evaluator> evaluator);

}  // namespace emplace::evaluate
