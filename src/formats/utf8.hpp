// Names must be valid UTF-8: they go into JSON files and onto terminals.
#pragma once

#include <string_view>

namespace emplace::formats {

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace emplace::formats
