// The two parsers of a Document: a quick one for valid texts, and one that says what is wrong with a text. Both give
// what they read to a DocumentBuilder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/json/json.hpp"

namespace emplace::formats::json {

// The tree of a text in one pass, as explain_json() makes it; nothing for a text that explain_json() refuses. It may
// also give up on rare valid texts, such as one that begins with a byte order mark. It is of our own because a problem
// of 500 MB takes three times as long with the parsers of Debian 12, which also err: simdjson 3.0.1 reads other doubles
// from decimals of more than 19 digits, RapidJSON 1.1.0 accepts halves of surrogate pairs.
std::optional<Document> scan_json(std::string_view text);

// The same tree, made several times slower by nlohmann's parser; throws the errors of parse().
Document explain_json(std::string_view text, const std::string& file);

// The value of a decimal text such as "4096.0" or "1.2e10" if it is whole and fits 64 bits; exact beyond 2^53 too.
std::optional<std::int64_t> whole_of_decimal(std::string_view text);

}  // namespace emplace::formats::json
