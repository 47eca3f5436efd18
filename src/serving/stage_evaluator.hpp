// The evaluator `serving`: the throughput of a cluster whose nodes are placed in stages.
#pragma once

namespace emplace::serving {

// For recipes; programs call it before they read one. Further calls do nothing.
void register_stage_evaluator();

}  // namespace emplace::serving
