// Parses "NAME?key=value&key=value", which names a zoo model or a simulator together with its options.
#pragma once

#include <string>
#include <string_view>

#include "emplace/base/config.hpp"

namespace emplace {

struct NamedQuery {
  std::string name;
  ConfigTable options;  // values are parsed as on the command line
};

// Throws InputError for a part that is not key=value and for a key that is given twice; its message begins with
// `place`.
NamedQuery parse_query(std::string_view text, const std::string& place);

}  // namespace emplace
