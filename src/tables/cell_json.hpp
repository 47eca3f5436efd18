// Cells as JSON: in their files and between ranks.
#pragma once

#include <nlohmann/json.hpp>

#include "emplace/tables/cell.hpp"

namespace emplace {

// What decides the result: not where it is put, nor how long there still is.
nlohmann::json identity_of(const CellTask& task);

nlohmann::json to_json(const CellResult& result);
CellResult cell_result_from(const nlohmann::json& value);

}  // namespace emplace
