// The libraries that the program uses, as `emplace doctor` lists them.
#pragma once

#include <string>

namespace emplace {

struct Library {
  std::string name;
  std::string headers;  // version of the headers that the program was compiled with
  std::string running;  // version that the library itself reports at run time; "" if it reports none
};

}  // namespace emplace
