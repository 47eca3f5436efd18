// Parts of the JSON data that several pages have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"

namespace emplace::report {

using Json = nlohmann::ordered_json;

// The text of an object for a page; bytes that are not UTF-8 become U+FFFD.
std::string page_data(const Json& object);

// Null if `value` is not finite; else rounded to six digits, which is more than a picture can show.
Json page_number(double value);
Json page_numbers(std::span<const double> values);

// [[key, text], ...] for each of `keys` that is in the table.
Json settings(const ConfigTable& table, std::span<const char* const> keys);
// The recipe keys for a summary: what is trained, and with which budget.
std::span<const char* const> recipe_summary_keys();

// {"says": ..., "command": ...}: a command line to copy.
Json command(std::string says, const std::vector<std::string>& words);

// The folder's own name: "sweep" of "runs/sweep/".
std::string name_of_folder(const std::string& path);

}  // namespace emplace::report
