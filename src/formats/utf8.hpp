// Names must be valid UTF-8, because they are written to JSON files and terminals.
#pragma once

#include <string_view>

namespace emplace::formats {

// Valid by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace emplace::formats
