// GraphDef, SavedModel and CostGraphDef, binary and text.
#include "tests/fuzz/read_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  emplace::read_model({"tensorflow", "tensorflow-saved-model", "tensorflow-costs"}, data, size);
  return 0;
}
