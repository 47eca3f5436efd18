// What the devices of a table's machine are like, by the columns that tell.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emplace/base/units.hpp"
#include "experiment/tables/published_table.hpp"
#include "machine/rescale.hpp"

namespace emplace::experiment {

// By kind of device.
using Scales = std::map<std::string, machine::DeviceScale>;

// What a calibrating column's placement takes on the machine as its file has it, memory ignored.
struct CalibratingRun {
  double seconds = 0;
  Bytes peak = 0;  // the largest of a device of the kind
};
// By row and kind.
using CalibratingRuns = std::vector<std::map<std::string, CalibratingRun>>;
CalibratingRuns calibrating_runs(const PublishedTable& table);

// For each row and each kind that the table's calibration names
//   time    published time / ours. A row whose cell is empty or OOM takes the factor of a kind that it has, times how
//           the two kinds' factors are to each other in the rows that have both (geometric mean), or in the one that
//           it is `like`; a row without any takes the geometric mean of the kind.
//   memory  where some of the column is OOM: the most with which all of that is, the same for all rows; nothing where
//           what was timed would not fit then.
// InputError where no row has a time in a column.
std::vector<Scales> device_scales(const PublishedTable& table, const CalibratingRuns& runs);

}  // namespace emplace::experiment
