// TensorFlow 1 on a host with several GPUs, as its runtime works: the host launches kernels one after the other, ahead
// of the GPUs; each GPU has one stream of kernels, which runs in order; consumers on another device wait for the copy.
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

struct TensorFlow1Options {
  double dispatch_us = 5;
  bool streams = true;
  double notice_us = 0;
};

void describe(TensorFlow1Options& o, OptionVisitor& visit) {
  visit("dispatch_us", o.dispatch_us,
        {.min = 0,
         .max = 1e9,
         .unit = "us",
         .help = "The host's time for each op on an accelerator whose cost is not 0; one queue for all accelerators."});
  visit("streams", o.streams,
        {.help = "Accelerators run ops in the order in which the host enqueued them, inputs on the same accelerator "
                 "need only be enqueued."});
  visit("notice_us", o.notice_us,
        {.min = 0,
         .max = 1e9,
         .unit = "us",
         .help = "From a tensor's arrival on a device until its consumers there learn of it."});
}

Switches tensorflow_1(const TensorFlow1Options& o, Schedule) {
  return {.ready = ReadyOrder::enqueued,
          .notice_s = o.notice_us * 1e-6,
          .dispatch_s = o.dispatch_us * 1e-6,
          .streams = o.streams};
}

}  // namespace

SimulatorEntry tensorflow_1_simulator() {
  SimulatorEntry entry = switched_entry(tensorflow_1);
  entry.name = "tensorflow-1";
  entry.summary = "The rules of this program, with the host's dispatch of kernels and streams that run in order.";
  entry.reference = "TensorFlow 1: common_runtime/executor, gpu/gpu_event_mgr";
  return entry;
}

}  // namespace emplace::simulate
