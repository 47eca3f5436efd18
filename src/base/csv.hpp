// Cells of comma-separated values.
#pragma once

#include <string>

namespace emplace {

// The text as one cell on one line: in quotes if it contains a comma or a quote; line breaks become blanks.
std::string csv_cell(std::string text);

}  // namespace emplace
