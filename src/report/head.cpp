#include "report/head.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/page.hpp"

namespace emplace::report {

std::string head_text(const verdict::Verdict& head) {
  std::size_t width = 0;
  for (const auto& [name, time] : head.rows) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, time] : head.rows)
    text += fmt::format("{:<{}}  {}\n", printable(name), width, time ? human_seconds(to_seconds(*time)) : "none");
  for (const std::string& sentence : head.sentences) text += printable(sentence) + "\n";
  if (!head.next.empty()) text += fmt::format("next: {}\n", head.next);
  return text;
}

Json head_json(const verdict::Verdict& head) {
  if (head.empty()) return nullptr;
  Json rows = Json::array(), sentences = Json::array();
  for (const auto& [name, time] : head.rows) rows.push_back({page_text(name, 200), time ? Json(*time) : Json()});
  for (const std::string& sentence : head.sentences) sentences.push_back(page_text(sentence, 500));
  return {{"rows", std::move(rows)},
          {"sentences", std::move(sentences)},
          {"next", head.next.empty() ? Json() : Json(page_text(head.next, 2000))}};
}

}  // namespace emplace::report
