#include "learn/polish_options.hpp"

namespace emplace::learn {

void describe(PolishOptions& o, OptionVisitor& visit) {
  visit(
      "samples", o.samples,
      {.min = 0,
       .max = 10000,
       .help = "So many of the best placements of a batch and so far, of each problem, are improved by local search, "
               "which the learner then learns from too (keep_best, elites); 1: the best of a batch or the best so far, "
               "in turn; 0: none."});
  visit("moves", o.moves,
        {.min = 1,
         .max = 1e9,
         .help = "Moves tried for one placement; each counts as an evaluation.",
         .only_with = {{"samples", {"0"}, true}}});
  visit(
      "share", o.share,
      {.min = 0,
       .max = 0.999,
       .help = "Share of the evaluations that are such moves, at the end of the training; a batch is polished whenever "
               "its moves fit in this share.",
       .only_with = {{"samples", {"0"}, true}}});
  visit("share_begin", o.share_begin,
        {.min = 0,
         .max = 0.999,
         .help = "The same at the beginning; between the two the share changes linearly.",
         .only_with = {{"samples", {"0"}, true}}});
}

}  // namespace emplace::learn
