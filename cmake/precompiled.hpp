// Headers that nearly every source file includes, compiled once: reading them took half of the time of a build. Sources
// include what they use all the same; -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without this.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>
