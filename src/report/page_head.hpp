// The head of a page: the verdict that the command gives that found the placement, with the placers of the page.
#pragma once

#include "report/placement_json.hpp"
#include "verdict/verdict.hpp"

namespace emplace::report {

// Judges `found`, whose step takes `outcome`, beside one device, the expert and the best row of baselines_json(). What
// a run measured is not judged: the verdict has the simulated times only.
verdict::Verdict head_of(const FoundPlacement& found, const Outcome& outcome, const LearnedCurve& curve,
                         const Json& baselines, const search::LowerBound& bound);

}  // namespace emplace::report
