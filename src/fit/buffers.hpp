// Memory of intermediate results on each device, as llama-server lays it out (language/runtime_memory.hpp).
#pragma once

#include <string>
#include <vector>

#include "fit/chain.hpp"
#include "language/language_model.hpp"
#include "language/scenario.hpp"

namespace emplace::fit {

// What the planner takes for them before it knows where units are: what each device with layers has, and what input and
// output add to it.
struct UnitBuffers {
  Bytes layers = 0, input = 0, output = 0;
};
// `devices`: beside the host.
[[nodiscard]] UnitBuffers unit_buffers(const language::LanguageModel& model, const language::Scenario& scenario,
                                       std::size_t devices);

// Of each device of a plan, the logits on the device of the input included. Devices without units have none.
[[nodiscard]] std::vector<Bytes> plan_buffers(const language::LanguageModel& model, const language::Scenario& scenario,
                                              const Chain& chain, const Assignment& assignment);

}  // namespace emplace::fit
