// Libraries that the program is made with, for `emplace doctor`.
#pragma once

#include <string>

namespace emplace {

struct Library {
  std::string name;
  std::string headers;  // version of the headers that the program was compiled with
  std::string running;  // what the library says of itself now; "" where it cannot say
};

}  // namespace emplace
