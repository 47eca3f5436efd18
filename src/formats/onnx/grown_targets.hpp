// The target of a Reshape for an input whose sizes are others than those with which its model was exported.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/onnx/reshape_targets.hpp"

namespace emplace::formats {

// A Reshape as it was exported. All sizes are known and at least 1.
struct ExportedReshape {
  std::vector<std::int64_t> input, output;
  std::vector<std::int64_t> target;  // as the file has it: -1 for an open size, 0 for the input's
};
using ExportedReshapes = std::unordered_map<std::string, ExportedReshape>;  // by the output's name

// The sizes of the output for an input of the sizes `now`, so that each size goes where it was when the model was
// exported. (Before and after, equal products of neighbouring sizes belong together: 1x128x768 and 128x12x64 have the
// groups 128 = 128 and 768 = 12 x 64.)
//   - A size of 1 that has grown goes to a size of 1 at the same place: 1x128x768 -> 1x128x12x64 is 8x128x12x64 for 8.
//   - Without such a place it goes to the size that the target leaves open, if that was 1 too: [-1, 512] for
//     1x512x1x1 is 49x512 for 1x512x7x7.
//   - Else it multiplies the size behind it if it is the outermost one (1x12x128x64 -> 12x128x64 is 96x128x64), or the
//     one before it if it is the innermost; between two groups, the one that the target leaves open.
//   - A group with one size of the target takes all of the group's elements. With several it takes sizes that the user
//     replaced (`replaced`: 1 by 8), else the outermost one grows if only the outermost size of the input has changed,
//     else the open one does.
// nullopt if there is no such output, or more than one would be possible.
std::optional<std::vector<std::int64_t>> grown_target(const ExportedReshape& exported,
                                                      std::span<const std::int64_t> now,
                                                      std::span<const ReplacedSize> replaced);

}  // namespace emplace::formats
