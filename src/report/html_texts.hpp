// The files of src/report/html, the drawing library (d3.min.js) and its licence (copyright), embedded in the program.
#pragma once

#include <span>
#include <string_view>

namespace emplace::report {

struct HtmlText {
  std::string_view name;  // "page.css"
  std::string_view text;
};
std::span<const HtmlText> html_texts();

}  // namespace emplace::report
