// The head of a report: the verdict on its result.
#pragma once

#include <string>

#include "report/page_json.hpp"
#include "verdict/verdict.hpp"

namespace emplace::report {

// One line for each row, sentence and the command; "" for an empty verdict.
std::string head_text(const verdict::Verdict& head);
// {"rows": [[name, ticks or null], ...], "sentences": [...], "next": command or null}; null for an empty verdict.
Json head_json(const verdict::Verdict& head);

}  // namespace emplace::report
