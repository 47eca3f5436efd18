// All of emplace that other programs use. What is found where:
//   problem/    Problem, Placement, Outcome: what is placed, and the result of simulating a placement
//   source/     load_problem(): problems of files, models and the zoo; make_problem(): of a graph of your own
//   graph/      Graph: ops and tensors of a model; machine/: the devices; cost/: how ops get their times
//   simulate/   Engine: the simulator; evaluate/: Evaluator, batches of placements
//   search/     placers and lower bounds; policy/: what a policy offers to learners
//   formats/    problem JSON, placement JSON, readers of model files
//   dist/       World: MPI; experiment/: train_recipe()
//   app/        run_program(): the program `emplace` with your own entries
#pragma once

#include "emplace/app/program.hpp"
#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "emplace/base/random.hpp"
#include "emplace/base/registry.hpp"
#include "emplace/base/state.hpp"
#include "emplace/base/types.hpp"
#include "emplace/cost/roofline_options.hpp"
#include "emplace/dist/world.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/graph/graph.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/policy/independent_policy.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/output_shapes.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/search/scorer.hpp"
#include "emplace/simulate/engine.hpp"
#include "emplace/source/load_problem.hpp"
