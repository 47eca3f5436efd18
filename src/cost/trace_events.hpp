// Reads traces in the format of Chrome's trace viewer, in which several runtimes write their profiles:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace emplace::cost {

// An event with the parts that profiles need; "" and NaN where the event has none.
struct TraceEvent {
  std::string category, name, phase;
  double start_us = std::numeric_limits<double>::quiet_NaN();     // "ts"
  double duration_us = std::numeric_limits<double>::quiet_NaN();  // "dur"
  std::int64_t process = 0, thread = 0;
  // Of "args": ONNX Runtime has op_name and provider, TensorFlow's timeline name and op.
  std::string args_op_name, args_provider, args_name, args_op;
};

// Calls `take` for each event of an array, or of the array "traceEvents" of an object, until it returns false. `place`
// names file and event. InputError with the place for anything else.
void for_each_event(std::string_view text, const std::string& file,
                    const std::function<bool(TraceEvent&& event, const std::string& place)>& take);

}  // namespace emplace::cost
