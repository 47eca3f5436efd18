// Events of a sweep's record as JSON objects. The texts here lack the closing brace, because a checksum is added before
// it.
#pragma once

#include <string>

#include "experiment/sweep/record.hpp"

namespace emplace::experiment {

std::string header_body();
std::string body_of(const SweepEvent& event);

// InputError with `place` for another format, or for a text that is not an event.
void check_header(const std::string& object, const std::string& place);
SweepEvent event_of(const std::string& object, const std::string& place);

}  // namespace emplace::experiment
