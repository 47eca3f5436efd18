// The verdict on a placement: its step time beside one device, the expert, the best that is known here and the bound;
// what that means in words; and the command to run next.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verdict/references.hpp"

namespace emplace::verdict {

// What the metrics of a training say about its end.
struct CurveFacts {
  bool still_falling =
      false;               // the best step time fell by more than 1 % in the last fifth of the updates; not converged
  bool converged = false;  // in the last tenth of the updates nearly all samples had the same step time
  bool never_learned = false;  // the median sample of the last tenth is no faster than that of the first
  bool too_short = false;      // there are too few updates to tell any of this
};

// For each update the best step time so far, and the 10th percentile, the median and the 90th percentile of the
// samples' step times, in seconds (NaN: none was feasible).
struct Curve {
  std::vector<double> best, low, median, high;
};
// Fewer than 10 updates are too few.
CurveFacts curve_facts(const Curve& curve);

// The commands from which the next one is chosen, without the time to give them; "" for those that do not apply.
struct Commands {
  std::string search = {};  // finds a placement: "emplace place best p.json --max-cuts 4"
  std::string start = {};   // what makes it begin with this placement: "--start out.json"
  std::string output = {};  // where it writes another one: "-o out-2.json"
  std::string resume = {};  // continues the training: "emplace train --resume runs/post"
  std::string keep = {};    // what to do with a placement that is good enough: export it, or look at it
};

// The result that is judged, and how it was made.
struct Subject {
  std::string method;      // a placer, the policy of a training, or the file of a placement that was given
  bool was_given = false;  // by the user: nothing was searched for
  Outcome outcome;
  bool proved_optimal = false;
  bool measured = false;                // by another evaluator than the simulator: bounds do not hold
  bool without_quick = false;           // a training that does not begin with the quick placers' placements
  std::string reason = {};              // why the placement is not feasible; "": feasible, or not known
  std::string why_nothing = {};         // the proof that no placement is feasible; "": not proved
  std::optional<Reference> split = {};  // a faster placement, left out because it gains too little over one device
  Commands commands = {};
  std::optional<CurveFacts> curve = {};  // of a training
  std::optional<double> seconds = {};    // the time that the method took
};

struct Verdict {
  // Names and step times, from the result to the bound; a time is none if there is no such placement.
  std::vector<std::pair<std::string, std::optional<Ticks>>> rows;
  std::vector<std::string> sentences;  // without full stops, the gravest first
  std::string about_bound;             // the one of them that says what the bound means; "": none does
  std::string next;                    // a command, or ""

  [[nodiscard]] bool empty() const { return rows.empty() && sentences.empty() && next.empty(); }
};

// How a bound was proved: the method of `emplace bound`, or the placer that proved it while it searched.
std::string proof_text(const search::LowerBound& bound);

// Times that differ by at most 0.1 % are equal in words.
Verdict judge(Objective objective, const Subject& subject, const References& references);

// "verdict" and the rows, the sentences and the command, one per line.
std::string text_of(const Verdict& verdict);

}  // namespace emplace::verdict
