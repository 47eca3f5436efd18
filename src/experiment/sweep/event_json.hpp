// Events of a sweep's record as JSON objects, here without their closing brace: the checksum comes in before it.
#pragma once

#include <string>

#include "experiment/sweep/record.hpp"

namespace emplace::experiment {

std::string header_body();
std::string body_of(const SweepEvent& event);

// InputError at `place` for another format or what is no event.
void check_header(const std::string& object, const std::string& place);
SweepEvent event_of(const std::string& object, const std::string& place);

}  // namespace emplace::experiment
