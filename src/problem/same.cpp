#include <algorithm>
#include <tuple>

#include "emplace/problem/problem.hpp"

namespace emplace {

namespace {

auto fields(const Lists& lists) { return std::tie(lists.begin, lists.items); }

bool same(const Device& a, const Device& b) {
  return std::tie(a.name, a.kind, a.memory) == std::tie(b.name, b.kind, b.memory);
}

bool same(const Channel& a, const Channel& b) {
  return std::tie(a.name, a.latency_s, a.bytes_per_s, a.contention) ==
         std::tie(b.name, b.latency_s, b.bytes_per_s, b.contention);
}

bool same_devices(const Problem& a, const Problem& b) {
  const auto equal = [](const auto& x, const auto& y) { return same(x, y); };
  return std::ranges::equal(a.devices, b.devices, equal) && std::ranges::equal(a.channels, b.channels, equal) &&
         fields(a.routes) == fields(b.routes) && a.max_cuts == b.max_cuts;
}

bool same_ops(const Problem& a, const Problem& b) {
  const auto fields_of = [](const Problem& p) {
    return std::tie(p.op_names, p.op_types, p.op_time, p.zero_cost, p.resident, p.scratch, p.group, p.group_names,
                    p.backward);
  };
  return fields_of(a) == fields_of(b);
}

bool same_tensors(const Problem& a, const Problem& b) {
  const auto fields_of = [](const Problem& p) {
    return std::tie(p.producer, p.tensor_bytes, p.transfer_time, p.given_transfer_times);
  };
  return fields_of(a) == fields_of(b) && fields(a.consumers) == fields(b.consumers);
}

}  // namespace

bool same_but_for_the_name(const Problem& a, const Problem& b) {
  return same_devices(a, b) && same_ops(a, b) && same_tensors(a, b);
}

}  // namespace emplace
