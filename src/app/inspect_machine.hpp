// What `emplace inspect` prints about a machine.
#pragma once

#include "emplace/machine/machine.hpp"

namespace emplace::app {

void inspect_machine(const machine::Machine& machine, bool json);

}  // namespace emplace::app
