// Builds a Problem: checks every condition that the rules R1-R6 (docs/simulation.md) take for granted, and rounds costs
// to ticks once. Errors name the object and its place in the input.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace {

struct OpSpec {
  std::string name;
  std::string type;
  std::vector<double> seconds;  // one per device; NaN: the device cannot run the op
  Bytes resident = 0;
  Bytes scratch = 0;
  std::string colocate = {};  // name of the co-location group; "": none
  bool backward = false;
  std::string layer = {};   // Problem::layer; "": none
  std::string module = {};  // Problem::module; "": none
};

// The shape of a tensor that is an output of its op (not of a control dependency).
struct OutputSpec {
  bool ranked = true;  // false: not even the number of dimensions is known
  std::vector<std::int64_t> dimensions = {};
  DType type = DType::unknown;
};

// Every call takes a `place`, the position of the object in the input ("file.json: ops[3]"), with which the message of
// an InputError begins. A builder that was moved from may only be assigned to or destroyed.
class ProblemBuilder {
 public:
  explicit ProblemBuilder(std::string name);
  ~ProblemBuilder();
  ProblemBuilder(const ProblemBuilder& other);
  ProblemBuilder& operator=(const ProblemBuilder& other);
  ProblemBuilder(ProblemBuilder&&) noexcept;
  ProblemBuilder& operator=(ProblemBuilder&&) noexcept;

  DeviceId add_device(Device device, const std::string& place = {});
  ChannelId add_channel(Channel channel, const std::string& place = {});
  // For files that give transfer times instead of bytes and bandwidths; must be called before the first route is added.
  // Each route then names one of the `classes`, each tensor has one time per class, and the channels' latencies and
  // bandwidths are ignored.
  void give_transfer_times(std::size_t classes);
  // Devices and channels must be added before routes and ops: a route names them, an op has one time per device.
  void add_route(DeviceId from, DeviceId to, const std::vector<ChannelId>& channels, const std::string& place = {},
                 std::size_t time_class = 0);
  OpId add_op(OpSpec op, const std::string& place = {});
  // `to` may be empty. Consumers must differ from the producer and from each other. Ops may be added later than the
  // tensors that name them. `seconds` has one time per class after give_transfer_times, and is empty otherwise.
  // `output` is null if the tensor has no shape.
  TensorId add_tensor(OpId from, Bytes bytes, std::vector<OpId> to, const std::string& place = {},
                      std::span<const double> seconds = {}, const OutputSpec* output = nullptr);

  // Checks what can only be checked on the whole problem: cycles, ids in range, groups that no device can run, totals
  // over 2^62. The builder is empty afterwards. `place` is the file.
  Problem build(const std::string& place = {});

 private:
  struct Parts;  // what was added so far (src/problem/builder.cpp)
  std::unique_ptr<Parts> parts_;
};

}  // namespace emplace
