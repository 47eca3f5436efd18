// One thing that `emplace doctor` looked at, and what to do where it is not well.
#pragma once

#include <string>
#include <vector>

namespace emplace::doctor {

struct Check {
  enum class Level { ok, warning, failure };  // failure: the program cannot do its work here

  std::string name;
  Level level = Level::ok;
  std::string says;  // one sentence; of a warning or a failure also what to do
};

using Checks = std::vector<Check>;

}  // namespace emplace::doctor
