// Speed and memory of the devices of a table's machine, from the columns that calibrate it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emplace/base/types.hpp"
#include "experiment/tables/published_table.hpp"
#include "machine/rescale.hpp"

namespace emplace::experiment {

// Scales by kind of device.
using Scales = std::map<std::string, machine::DeviceScale>;

// Step time and memory of the placement of a calibrating column on the machine of the file, without memory limits.
struct CalibratingRun {
  double seconds = 0;
  Bytes peak = 0;  // the largest peak memory of a device of the kind
};
// By row and kind.
using CalibratingRuns = std::vector<std::map<std::string, CalibratingRun>>;
CalibratingRuns calibrating_runs(const PublishedTable& table);

// For each row and each kind that the table's calibration names:
//   time    published time / ours: the geometric mean over the rows with a time in the kind's column, because a table
//           has one machine. If the table calibrates each row, it is the row's own factor; without a time
//           in the row, that of the row which it is `like`.
//   memory  if cells of the column are OOM: the largest memory with which all of these are OOM, the same for all rows;
//           none if a cell with a time would then not fit.
// InputError if no row has a time in a column.
std::vector<Scales> device_scales(const PublishedTable& table, const CalibratingRuns& runs);

}  // namespace emplace::experiment
