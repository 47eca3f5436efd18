// Warns of placements that could not be measured.
#pragma once

#include <memory>

#include "emplace/evaluate/evaluator.hpp"

namespace emplace::evaluate {

// Passes every evaluation on to `evaluator` and logs each reason why a placement has no time once, with the first
// placement that it was given for; and a sentence where nothing in the first batch could be measured.
std::unique_ptr<Evaluator> make_reporting_evaluator(std::unique_ptr<Evaluator> evaluator);

}  // namespace emplace::evaluate
