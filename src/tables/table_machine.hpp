// How fast the devices of a table's machine are, by the columns that tell.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emplace/tables/published_table.hpp"

namespace emplace {

// By kind of device.
using SpeedFactors = std::map<std::string, double>;

// For each row and each kind that the table's calibration names: published time / time on the machine as its file has
// it. A row whose cell is empty or OOM takes the factor of a kind that it has, times how the two kinds' factors are to
// each other in the rows that have both (geometric mean); a row without any takes the geometric mean of the kind.
// `times`: ours, by row and kind, memory ignored. InputError where no row has a time in a column.
std::vector<SpeedFactors> speed_factors(const PublishedTable& table,
                                        const std::vector<std::map<std::string, double>>& times);

// Ours, by row and kind: of the placements of the calibrating columns, memory ignored.
std::vector<std::map<std::string, double>> calibrating_times(const PublishedTable& table);

// "cpu x 1.0352, gpu x 2.21": for files and people; "" without any.
std::string text_of(const SpeedFactors& factors, int digits);

}  // namespace emplace
