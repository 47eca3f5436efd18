// The lower bound that `emplace bound` proves, found once for a run and kept in its folder.
#pragma once

#include <string>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/search/bound.hpp"

namespace emplace::report {

// The best bound of all methods with a budget of `seconds`. `file`: if it has a bound of the same problem, made by this
// version of the program with at least this budget, that is returned; otherwise the bound is written to it, unless it
// cannot be written. "": no file is read or written. The file is not trusted: damaged ones are replaced.
search::LowerBound proved_bound(const Problem& problem, const evaluate::Scoring& scoring, double seconds,
                                const std::string& file);

}  // namespace emplace::report
