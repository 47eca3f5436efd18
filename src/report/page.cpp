#include "report/page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emplace/base/error.hpp"
#include "report/html_texts.hpp"

namespace emplace::report {

namespace {

// The content security policy: no network, forms or frames; only scripts and styles of the file itself are allowed.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'";

std::string_view text_of(std::string_view name) {
  const auto found = std::ranges::find(html_texts(), name, &HtmlText::name);
  EMPLACE_CHECK(found != html_texts().end(), "src/report/html has no {}", name);
  return found->text;
}

std::string valid_utf8(std::string_view text) {
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(quoted).get<std::string>();
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      case '\0': escaped += "\uFFFD"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string json_in_script(std::string json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json) {
    if (c == '<')  // '<' occurs only inside JSON strings, where an escape is allowed
      escaped += "\\u003c";
    else
      escaped += c;
  }
  return escaped;
}

std::string page_text(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return valid_utf8(text);
  std::size_t cut = longest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;  // not inside a character
  return fmt::format("{}… ({} bytes)", valid_utf8(text.substr(0, cut)), text.size());
}

std::string to_html(const HtmlPage& page) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<main id=\"page\"><noscript>This page draws its charts with JavaScript, which is switched "
      "off.</noscript></main>\n"
      "<script type=\"application/json\" id=\"data\">{}</script>\n"
      "<!--\nThe charts are drawn with D3, which is in this page:\n\n{}-->\n",
      policy, html_text(page.title), text_of("page.css"), json_in_script(page.data), text_of("copyright"));
  const auto add = [&](std::string_view name) { html += fmt::format("<script>\n{}</script>\n", text_of(name)); };
  add("d3.min.js");
  add("common.js");
  for (const std::string_view name : page.scripts) add(name);
  return html + "</body>\n</html>\n";
}

}  // namespace emplace::report
