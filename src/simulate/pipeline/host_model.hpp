// The part that the models of Tarnawski et al. share (docs/papers/tarnawski.md, sections 2.1 and 2.9): all traffic
// passes through host memory, devices of kind "cpu" are hosts, memory is the sum of resident bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::simulate {

class HostModel {
 public:
  explicit HostModel(const Problem& problem);

  // Whether transfers add to the device's load; false for hosts.
  [[nodiscard]] bool pays(std::size_t device) const { return ways_[device].pays; }

  // The host over which a tensor is sent from or to a device, and the time: the quickest host, of equals the smallest.
  // Nothing if there is no route.
  struct HostTransfer {
    Ticks time;
    DeviceId host;
  };
  [[nodiscard]] std::optional<HostTransfer> out(TensorId tensor, std::size_t device) const {
    return quickest(ways_[device].out, tensor);
  }
  [[nodiscard]] std::optional<HostTransfer> in(TensorId tensor, std::size_t device) const {
    return quickest(ways_[device].in, tensor);
  }

  // An outcome with this reason of R6, or a feasible one if the reason does not apply.
  [[nodiscard]] Outcome unsupported_op(const std::vector<std::uint8_t>& device) const;
  [[nodiscard]] Outcome split_group(const std::vector<std::uint8_t>& device);
  // Sums resident bytes, and adds the bytes that exceed a device's memory to the outcome.
  void judge_memory(const std::vector<std::uint8_t>& device, Outcome& outcome);
  [[nodiscard]] const std::vector<Bytes>& resident() const { return resident_; }  // D, of judge_memory

 private:
  // Transfers over routes of one class take the same time, so one link per class is enough.
  struct HostLink {
    std::size_t route_class;
    DeviceId host;
  };
  struct Ways {
    bool pays = false;
    std::vector<HostLink> out, in;
  };
  void add_link(std::vector<HostLink>& list, DeviceId from, DeviceId to, DeviceId host) const;
  [[nodiscard]] std::optional<HostTransfer> quickest(const std::vector<HostLink>& links, TensorId tensor) const;

  const Problem& p_;
  std::vector<Ways> ways_;  // D
  std::vector<Bytes> resident_;
  std::vector<std::uint16_t> device_of_group_;
};

}  // namespace emplace::simulate
