// Reads the answer that the user's measuring program printed.
#pragma once

#include <string>
#include <string_view>

namespace emplace::evaluate {

struct CommandAnswer {
  double seconds = 0;        // above 0 and at most 10^6 if there is no failure
  std::string failure = {};  // what is wrong with the answer, or why the placement is infeasible
  bool infeasible = false;   // the program itself reported that; it is not run again
  bool reported = false;     // the program itself reported the failure
};

// Accepts a JSON number of seconds; or an object with one of "seconds", "makespan_s" and "load_s" (as `emplace simulate
// --json` prints it), or with "feasible": false and perhaps a "reason", or with an "error". Other keys are ignored.
CommandAnswer read_command_answer(std::string_view output);

}  // namespace emplace::evaluate
