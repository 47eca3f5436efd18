// The times of TensorFlow's executors, in whichever file they are.
#pragma once

#include <string>
#include <string_view>

#include "cost/repeated_times.hpp"

namespace emplace::cost {

// Kernels that were fused have the name of the last op, and a type that says so ("_FusedConv2D",
// "_MklNativeConv2DWithBias"). What the runtime adds to a graph (_Arg, _Retval, _Send, _Recv, _SOURCE) is left out.
class TensorflowTimes {
 public:
  explicit TensorflowTimes(Profile& profile);

  // `device`: "/job:localhost/replica:0/task:0/device:CPU:0", or "/device:GPU:0/stream:all", whose nodes are
  // "name:Type". Other streams and copies are left out.
  void add(std::string_view device, std::string node, std::string_view type, double seconds, const std::string& place);
  void add_run(double seconds) { times_.add_run(seconds); }
  // Devices are named ("cpu:0") if the file has several.
  void finish();

 private:
  std::size_t column_of(std::string_view device, const std::string& place);

  Profile& profile_;
  RepeatedTimes times_;
};

}  // namespace emplace::cost
