// Builds a Problem: checks every rule that R1-R6 leave undefined, by name and place, and rounds costs once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emplace/base/name_table.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

struct OpSpec {
  std::string name;
  std::string type;
  std::vector<double> seconds;  // one a device; NaN: the device cannot run it
  Bytes resident = 0;
  Bytes scratch = 0;
  std::string colocate;  // "": none
  bool backward = false;
};

// `place` in every call says where the thing stands ("file.json: ops[3]"); it begins the message of an InputError.
class ProblemBuilder {
 public:
  explicit ProblemBuilder(std::string name);

  DeviceId add_device(Device device, const std::string& place = {});
  ChannelId add_channel(Channel channel, const std::string& place = {});
  // For files that give transfer times instead of bytes and bandwidths; before the first route. Each route then names
  // one of `classes`, each tensor brings one time a class, and the channels' latencies and bandwidths mean nothing.
  void give_transfer_times(std::size_t classes);
  // Devices and channels first: a route names them, an op has one time a device.
  void add_route(DeviceId from, DeviceId to, const std::vector<ChannelId>& channels, const std::string& place = {},
                 std::size_t time_class = 0);
  OpId add_op(OpSpec op, const std::string& place = {});
  // `to` may be empty. Consumers must differ from the producer and from each other. Ops may be added later than the
  // tensors that name them. `seconds`: one a class after give_transfer_times, else empty.
  TensorId add_tensor(OpId from, Bytes bytes, std::vector<OpId> to, const std::string& place = {},
                      std::span<const double> seconds = {});

  // Checks what needs the whole: cycles, ids in range, groups that no device can run, totals over 2^62. Leaves the
  // builder empty. `place` is the file.
  Problem build(const std::string& place = {});

 private:
  void fill_routes();
  void fill_transfer_times();

  Problem problem_;
  struct Tensor {
    OpId from;
    Bytes bytes;
    std::vector<OpId> to;
    std::string place;
  };
  std::vector<Tensor> tensors_;
  std::vector<std::vector<std::uint32_t>> routes_;  // D x D once the first route or op fixed the devices
  std::size_t time_classes_ = 0;                    // 0: times follow from bytes, latencies and bandwidths
  std::vector<std::int32_t> time_class_;            // D x D like routes_, of given times
  std::vector<Ticks> given_times_;                  // T x time_classes_
  NameTable device_names_, channel_names_, op_names_, group_names_;
};

}  // namespace emplace
