// Finds out what a JSON file holds before it is read with the parser of that format.
#pragma once

#include <string>
#include <string_view>

namespace emplace::formats::json {

struct TopKeys {
  std::string format;           // the text of the key "emplace" of the outermost object; "" if it has none
  bool model_topology = false;  // whether it has the key "modelTopology" of TensorFlow.js
};

// Reads the text up to the first of these keys and keeps no value. The result of a text that is no JSON, or is nested
// too deeply, has what comes before the fault; the parser of the format then reports the fault.
TopKeys top_keys(std::string_view text);

}  // namespace emplace::formats::json
