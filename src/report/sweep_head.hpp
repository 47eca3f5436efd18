// The head of a sweep's report: the result of its best trial beside one device, other placers and the bound.
#pragma once

#include "experiment/sweep/sweep_folder.hpp"
#include "report/head.hpp"

namespace emplace::report {

// Empty if no trial has a result, if the trials place several problems, or if the problem of the best trial cannot be
// built again. `bound_seconds`: to prove the bound, which is kept in the folder of the trial's run.
verdict::Verdict head_of_sweep(const experiment::SweepFolder& folder, double bound_seconds = 4);

}  // namespace emplace::report
