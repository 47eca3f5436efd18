// Sizes of named inputs, as people write them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace emplace {

// "input=1x3x224x224" texts into sizes by input name; `place` begins the message of an InputError.
std::map<std::string, std::vector<std::int64_t>> parse_shapes(const std::vector<std::string>& texts,
                                                              const std::string& place);

}  // namespace emplace
