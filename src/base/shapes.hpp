// Parses the sizes of named inputs, as they are given on the command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace emplace {

// Parses texts such as "input=1x3x224x224"; returns the sizes by input name. Throws InputError, with `place` at the
// start of the message, for any other text.
std::map<std::string, std::vector<std::int64_t>> parse_shapes(const std::vector<std::string>& texts,
                                                              const std::string& place);

}  // namespace emplace
