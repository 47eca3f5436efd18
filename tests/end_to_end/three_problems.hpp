// Three problems of equally many devices: two of one family, of different sizes, and one of another.
#pragma once

#include <string>

namespace emplace::test {

inline const std::string first = "zoo:nmt?layers=2&sequence=4&training=true@k40x2";
inline const std::string second = "zoo:nmt?layers=2&sequence=3&training=true@k40x2";
inline const std::string third = "zoo:inception-v3?batch=4@k40x2";

}  // namespace emplace::test
