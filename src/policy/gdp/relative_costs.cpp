#include "policy/gdp/relative_costs.hpp"

#include <algorithm>
#include <cmath>

namespace emplace::policy {

namespace {

constexpr double bound = 10;  // of logarithms
double bounded_log(double x) { return std::clamp(std::log(x), -bound, bound); }
double bounded_log1p(double x) { return std::min(std::log1p(x), bound); }

// N x D seconds; -1 where the unit cannot run.
std::vector<double> unit_seconds(const PolicyProblem& of) {
  const Problem& p = *of.problem;
  const std::size_t devices = p.device_count();
  std::vector<double> seconds(of.grouping.count() * devices, 0.0);
  for (std::size_t unit = 0; unit < of.grouping.count(); ++unit)
    for (const std::uint32_t op : of.grouping.members[unit])
      for (std::size_t d = 0; d < devices; ++d) {
        double& sum = seconds[unit * devices + d];
        const Ticks time = p.op_time[op * devices + d];
        sum = time == cannot_run || sum < 0 ? -1 : sum + to_seconds(time);
      }
  return seconds;
}

// N: the bytes of the unit's tensors that other units read, and how many there are.
struct Sent {
  double bytes = 0, tensors = 0;
};
std::vector<Sent> sent_by_units(const PolicyProblem& of) {
  const Problem& p = *of.problem;
  const std::vector<std::uint32_t>& unit_of = of.grouping.unit_of_op;
  std::vector<Sent> sent(of.grouping.count());
  for (std::size_t tensor = 0; tensor < p.tensor_count(); ++tensor) {
    const std::uint32_t unit = unit_of[p.producer[tensor].index()];
    if (std::ranges::none_of(p.consumers[tensor], [&](std::uint32_t op) { return unit_of[op] != unit; })) continue;
    sent[unit].bytes += static_cast<double>(p.tensor_bytes[tensor]);
    ++sent[unit].tensors;
  }
  return sent;
}

// D: latency and seconds for each byte, the mean over the other devices that can be reached.
struct Link {
  double latency_s = 0, s_per_byte = 0;
};
std::vector<Link> links_of(const Problem& p) {
  const std::size_t devices = p.device_count();
  std::vector<Link> links(devices);
  for (std::size_t from = 0; from < devices; ++from) {
    double reached = 0;
    for (std::size_t to = 0; to < devices; ++to) {
      const std::int32_t route = p.route_class[from * devices + to];
      if (route < 0 || from == to) continue;
      const Problem::RouteClass& of = p.route_classes[static_cast<std::size_t>(route)];
      links[from].latency_s += of.latency_s;
      links[from].s_per_byte += 1 / of.bytes_per_s;
      ++reached;
    }
    links[from].latency_s /= std::max(1.0, reached);
    links[from].s_per_byte /= std::max(1.0, reached);
  }
  return links;
}

}  // namespace

RelativeCosts relative_costs(const PolicyProblem& of) {
  const Problem& p = *of.problem;
  const std::size_t n = of.grouping.count(), devices = p.device_count();
  const std::vector<double> seconds = unit_seconds(of);
  const std::vector<Sent> sent = sent_by_units(of);
  const std::vector<Link> links = links_of(p);
  std::vector<double> least(n, 0.0), mean(n, 0.0), resident(n, 0.0);
  double all_least = 0, all_resident = 0;
  for (std::size_t unit = 0; unit < n; ++unit) {
    double fastest = -1, sum = 0, able = 0;
    for (std::size_t d = 0; d < devices; ++d)
      if (const double time = seconds[unit * devices + d]; time >= 0) {
        fastest = fastest < 0 ? time : std::min(fastest, time);
        sum += time;
        ++able;
      }
    least[unit] = std::max(fastest, 0.0);
    mean[unit] = sum / std::max(1.0, able);
    for (const std::uint32_t op : of.grouping.members[unit]) resident[unit] += static_cast<double>(p.resident[op]);
    all_least += least[unit];
    all_resident += resident[unit];
  }
  const auto count = static_cast<double>(n);
  const double shortest = std::max(1e-12, 1e-6 * all_least / count);  // units without work are not infinitely fast
  RelativeCosts costs;
  for (std::size_t unit = 0; unit < n; ++unit) {
    const double time = std::max(least[unit], shortest);
    const auto sending = [&](const Link& link) {
      return bounded_log1p((sent[unit].tensors * link.latency_s + sent[unit].bytes * link.s_per_byte) / time);
    };
    double sends = 0;
    for (const Link& link : links) sends += sending(link) / static_cast<double>(devices);
    for (const double value :
         {all_least > 0 ? bounded_log(time * count / all_least) : 0, bounded_log(std::max(mean[unit], shortest) / time),
          all_resident > 0 ? bounded_log1p(resident[unit] * count / all_resident) : 0, sends})
      costs.units.push_back(static_cast<float>(value));
    for (std::size_t d = 0; d < devices; ++d) {
      const double here = seconds[unit * devices + d];
      const Bytes memory = p.devices[d].memory;
      const double full = memory == no_memory_limit || memory <= 0
                              ? 0
                              : bounded_log1p(count * resident[unit] / static_cast<double>(memory));
      for (const double value : {bounded_log(time / std::max(here, shortest)), full, sending(links[d])})
        costs.pairs.push_back(here < 0 ? 0.0F : static_cast<float>(value));
    }
  }
  return costs;
}

}  // namespace emplace::policy
