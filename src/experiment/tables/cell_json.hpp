// Cells as JSON: in their files and between ranks.
#pragma once

#include <nlohmann/json.hpp>

#include "experiment/tables/cell.hpp"

namespace emplace::experiment {

// The text with paths into the folder as they are from there: one that was moved, or is named otherwise, holds what it
// held.
std::string without_folder(const std::string& text, const std::string& folder);

// What decides the result: not where it is put, nor how long there still is.
nlohmann::json identity_of(const CellTask& task);

nlohmann::json to_json(const CellResult& result);
CellResult cell_result_from(const nlohmann::json& value);

}  // namespace emplace::experiment
