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

}  // namespace emplace::test
