// Tensors of which no size is known: they count 0 bytes, and their ops no FLOPs.
#pragma once

#include <string>
#include <vector>

#include "cost/lower.hpp"

namespace emplace::cost {

// "17 of 120 ops (14 %) have outputs of unknown size: 'Reshape' (12), 'Loop' (5)"; "" if there are none.
std::string unsized_ops(const Lowered& lowered);

// What to do about such outputs: "give the sizes of 'ids' (?x128) with --shape INPUT=SIZES or --batch N" (with
// `of_recipe`: the keys of recipes) if an input has an open size, else which ops are the first whose results have no
// known size.
std::string advice_on_sizes(const Graph& graph, bool of_recipe = false);

// Throws InputError if more than 1 % of the ops have outputs of unknown size, unless the options allow it. The message
// names the options of the command line, with `of_recipe` the keys of recipes. `place` begins it; if it is the path of
// the model, and all inputs have sizes, the message names the files of weights that are not there.
void refuse_unsized(const Lowered& lowered, const RooflineOptions& options, const std::string& place,
                    bool of_recipe = false);

// The caveat of a problem that has such tensors (Problem::unsized), as a sentence that begins with `place`; empty if it
// has none.
std::vector<std::string> unsized_caveat(const Problem& problem, const std::string& place);

}  // namespace emplace::cost
