// The head of a report: the step time beside those of one device, the expert, the best that is known and the bound;
// what that means in words; and the command to run next.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/types.hpp"
#include "report/page_json.hpp"

namespace emplace::report {

struct ReportHead {
  // Names and step times, from the result to the bound; a time is none if there is no such placement.
  std::vector<std::pair<std::string, std::optional<Ticks>>> rows;
  std::vector<std::string> sentences;  // without full stops, the gravest first
  std::string next;                    // a command, or ""
  [[nodiscard]] bool empty() const { return rows.empty() && sentences.empty() && next.empty(); }
};

// One line for each row, sentence and the command; "" for an empty head.
std::string head_text(const ReportHead& head);
// {"rows": [[name, ticks or null], ...], "sentences": [...], "next": command or null}; null for an empty head.
Json head_json(const ReportHead& head);

}  // namespace emplace::report
