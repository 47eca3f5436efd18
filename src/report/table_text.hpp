// A reproduced table for people and papers: published numbers and ours, side by side.
#pragma once

#include <string>

#include "experiment/tables/reproduction.hpp"

namespace emplace::report {

// For a terminal: two lines for each row, one with the published and one with our numbers, and notes below.
std::string table_text(const experiment::Reproduction& reproduction);
std::string table_markdown(const experiment::Reproduction& reproduction);
// As wide as the page, with the notes below.
std::string table_latex(const experiment::Reproduction& reproduction);
// One line for each cell: row, model, method, published_s, published_status, ours_s, low_s, high_s, status, ...
std::string table_csv(const experiment::Reproduction& reproduction);

}  // namespace emplace::report
