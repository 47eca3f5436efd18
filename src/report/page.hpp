// One HTML file that needs no other file and no network: style, scripts and data are in it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace emplace::report {

struct HtmlPage {
  std::string title;
  std::string data;  // JSON text with the data that the scripts draw
  // Files of src/report/html, in the order in which they run; page.css and common.js are always there.
  std::span<const std::string_view> scripts;
};
std::string to_html(const HtmlPage& page);

// A text escaped for HTML, between tags or in quotes; bytes that are not UTF-8 become U+FFFD.
std::string html_text(std::string_view text);
// JSON escaped for use in <script>: no text in it can end the element or begin a comment.
std::string json_in_script(std::string json);
// A text for a page: valid UTF-8 of at most `longest` bytes; if it was cut, its original length is appended.
std::string page_text(std::string_view text, std::size_t longest = 2000);
// Bytes of an op's or a device's name in a picture.
inline constexpr std::size_t longest_name = 120;

}  // namespace emplace::report
