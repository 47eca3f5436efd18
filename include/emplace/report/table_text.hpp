// A reproduced table for people and papers: published numbers and ours, side by side.
#pragma once

#include <string>

#include "emplace/tables/reproduction.hpp"

namespace emplace {

// For a terminal: two lines a row, what was published and what was measured here, and what to say of it below.
std::string table_text(const Reproduction& reproduction);
std::string table_markdown(const Reproduction& reproduction);
// As wide as the page, with what there is to say of it below.
std::string table_latex(const Reproduction& reproduction);
// One line a cell: row, model, method, published_s, published_status, ours_s, low_s, high_s, status, ...
std::string table_csv(const Reproduction& reproduction);

}  // namespace emplace
