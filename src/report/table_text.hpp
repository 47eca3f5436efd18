// A reproduced table for people and papers: published numbers and ours, side by side.
#pragma once

#include <string>

#include "experiment/tables/reproduction.hpp"

namespace emplace::report {

// For a terminal: two lines a row, what was published and what was measured here, and what to say of it below.
std::string table_text(const experiment::Reproduction& reproduction);
std::string table_markdown(const experiment::Reproduction& reproduction);
// As wide as the page, with what there is to say of it below.
std::string table_latex(const experiment::Reproduction& reproduction);
// One line a cell: row, model, method, published_s, published_status, ours_s, low_s, high_s, status, ...
std::string table_csv(const experiment::Reproduction& reproduction);

}  // namespace emplace::report
