// Ops of test problems in one line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emplace/problem/builder.hpp"

namespace emplace::test {

inline OpSpec op(std::string name, std::vector<double> seconds, std::string type = "", std::string colocate = "") {
  OpSpec spec;
  spec.name = std::move(name);
  spec.type = std::move(type);
  spec.seconds = std::move(seconds);
  spec.colocate = std::move(colocate);
  return spec;
}

// All times times k.
inline Problem scaled(Problem problem, Ticks k) {
  for (Ticks& time : problem.op_time)
    if (time != cannot_run) time *= k;
  for (Ticks& time : problem.transfer_time) time *= k;
  return problem;
}

}  // namespace emplace::test
