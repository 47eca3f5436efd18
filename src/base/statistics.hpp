// Statistics of a few numbers.
#pragma once

#include <vector>

namespace emplace {

// The middle value, or the mean of the two middle values. Needs at least one value; none may be NaN.
double median(std::vector<double> values);

}  // namespace emplace
