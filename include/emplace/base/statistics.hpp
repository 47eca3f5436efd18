// Of a few numbers.
#pragma once

#include <vector>

namespace emplace {

// The middle one, or the mean of the two in the middle. At least one value, none of them NaN.
double median(std::vector<double> values);

}  // namespace emplace
