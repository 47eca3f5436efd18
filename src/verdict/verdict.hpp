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
  bool still_falling = false;  // the best step time fell by more than 1 % in the last fifth of the updates
  bool converged = false;      // in the last tenth of the updates nearly all samples had the same step time
  bool never_learned = false;  // the median sample of the last tenth is no faster than that of the first
};

// `best`, `median` and `low`: for each update the best step time so far, and the median and the 10th percentile of the
// samples' step times in seconds (NaN: none was feasible). Fewer than 10 updates give no facts.
CurveFacts curve_facts(const std::vector<double>& best, const std::vector<double>& median,
                       const std::vector<double>& low);

// The result that is judged, and how it was made; texts are arguments of commands as the user gives them.
struct Subject {
  std::string method;  // a placer, or the policy of a training
  Outcome outcome;
  bool proved_optimal = false;
  bool measured = false;                 // by another evaluator than the simulator: bounds do not hold
  std::string problem = {};              // the PROBLEM argument
  std::string machine = {};              // the MACHINE argument if the problem is given as two arguments; else ""
  std::string constraints = {};          // the arguments of `place` that constrain the problem, as --max-cuts 4
  std::string placement_file = {};       // where the placement is kept; "": nowhere
  std::string run = {};                  // the folder of the training; "": none
  std::optional<CurveFacts> curve = {};  // of a training
  std::optional<double> seconds = {};    // the time that the method took
};

struct Verdict {
  // Names and step times, from the result to the bound; a time is none if there is no such placement.
  std::vector<std::pair<std::string, std::optional<Ticks>>> rows;
  std::vector<std::string> sentences;  // without full stops, the gravest first
  std::string next;                    // a command, or ""

  [[nodiscard]] bool empty() const { return rows.empty() && sentences.empty() && next.empty(); }
};

// Times that differ by at most 0.1 % are equal in words.
Verdict judge(const Problem& problem, Objective objective, const Subject& subject, const References& references);

// "verdict" and the rows, the sentences and the command, one per line.
std::string text_of(const Verdict& verdict);

}  // namespace emplace::verdict
