// The files of src/report/html, the library that draws (d3.min.js) and its licence (copyright), as the program carries
// them.
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
