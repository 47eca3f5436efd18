// Cells as JSON, in their files and in messages between ranks.
#pragma once

#include <nlohmann/json.hpp>

#include "experiment/tables/cell.hpp"

namespace emplace::experiment {

// The text with paths into the folder made relative to it. So results stay valid if the folder is moved or named in
// another way.
std::string without_folder(const std::string& text, const std::string& folder);

// The fields that determine the result: all except the folder and the time that is left.
nlohmann::json identity_of(const CellTask& task);

nlohmann::json to_json(const CellResult& result);
CellResult cell_result_from(const nlohmann::json& value);

}  // namespace emplace::experiment
