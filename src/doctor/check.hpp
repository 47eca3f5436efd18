// The result of one check of `emplace doctor`, and what to do if it is not ok.
#pragma once

#include <string>
#include <vector>

namespace emplace::doctor {

struct Check {
  enum class Level { ok, warning, failure };  // failure: the program cannot do its work here

  std::string name;
  Level level = Level::ok;
  std::string says;  // one sentence; for a warning or a failure it also says what to do
};

using Checks = std::vector<Check>;

}  // namespace emplace::doctor
