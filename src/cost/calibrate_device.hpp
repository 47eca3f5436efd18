// The fit of one device's figures to measured ops: the class-by-class part of calibration.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cost/calibrate.hpp"

namespace emplace::cost {

struct FittedDevice {
  machine::MachineDevice device;
  std::vector<ClassTrust> trust;  // the measured classes, in the order of op_classes()
  std::vector<std::string> warnings;
};

// Fits the figures as `calibrate` describes. InputError if no op does any work, or if the device lacks the peak of a
// dtype.
FittedDevice fitted_device(const machine::MachineDevice& given, const std::vector<const TimedOp*>& ops);

}  // namespace emplace::cost
