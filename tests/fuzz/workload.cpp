// Any text is a Problem or an InputError, with and without an instance and processors; so is an expert split.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "emplace/base/error.hpp"
#include "formats/workload/workload.hpp"

namespace {

void read(std::string_view text, const emplace::formats::WorkloadRequest& request) {
  try {
    const emplace::Problem problem = emplace::formats::read_problem_text(text, "fuzz", request);
    if (problem.op_count() == 0 || problem.topological.size() != problem.op_count()) std::abort();
  } catch (const emplace::InputError&) {
  }
}

const emplace::Problem& split_problem() {
  static const emplace::Problem problem = emplace::formats::read_problem_text(
      R"({"maxSizePerFPGA": 10, "maxFPGAs": 2, "maxCPUs": 1, "edges": [{"sourceId": 1, "destId": 2, "cost": 1}], "nodes": [
      {"id": 1, "supportedOnFpga": 1, "cpuLatency": 1, "fpgaLatency": 1, "isBackwardNode": 0, "colorClass": 1},
      {"id": 2, "supportedOnFpga": 1, "cpuLatency": 1, "fpgaLatency": 1, "isBackwardNode": 1, "colorClass": 1}]})",
      "split");
  return problem;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(text, {});
  read(text, {.instance = "a", .processors = {}});
  read(text, {.instance = {}, .processors = 3});
  try {
    const emplace::formats::PlacementFile file = emplace::formats::read_placement_text(text, "fuzz", split_problem());
    emplace::check_placement(split_problem(), file.placement);
  } catch (const emplace::InputError&) {
  }
  return 0;
}
