// "NAME?key=value&key=value": how zoo models and simulators take options inside one word.
#pragma once

#include <string>
#include <string_view>

#include "emplace/base/config.hpp"

namespace emplace {

struct NamedQuery {
  std::string name;
  ConfigTable options;  // values read as on the command line
};

// InputError for a part that is not key=value and for a key that is given twice; `place` begins the message.
NamedQuery parse_query(std::string_view text, const std::string& place);

}  // namespace emplace
