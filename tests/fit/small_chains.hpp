// Chains with a few units and devices, made by hand or drawn by RapidCheck, and their best assignments by trying all.
#pragma once

#include <rapidcheck.h>

#include <optional>
#include <vector>

#include "fit/chain.hpp"

namespace emplace::fit {

// Units with bytes (as weights) and times on each device; every hop between devices takes `hop`.
struct UnitRow {
  UnitKind kind;
  std::int64_t layer;
  Bytes bytes;
  std::vector<Ticks> time;
};
inline Chain chain_from(const std::vector<UnitRow>& rows, const std::vector<Bytes>& room, Ticks hop) {
  const std::size_t devices = room.size();
  Chain chain;
  for (std::size_t d = 0; d < devices; ++d) chain.devices.push_back("d" + std::to_string(d));
  chain.room = room;
  for (const UnitRow& row : rows) {
    const std::string name = std::string(name_of(row.kind)) + std::to_string(row.layer);
    chain.units.push_back({.name = name, .kind = row.kind, .layer = row.layer, .weights = row.bytes});
    chain.time.insert(chain.time.end(), row.time.begin(), row.time.end());
    for (std::size_t a = 0; a < devices; ++a)
      for (std::size_t b = 0; b < devices; ++b) {
        const bool first = chain.units.size() == 1;
        chain.to.push_back(a == b || first ? 0 : hop);
        chain.back.push_back(a == b || row.kind != UnitKind::experts ? 0 : hop);
      }
    chain.beside.insert(chain.beside.end(), devices, 0);
  }
  return chain;
}

// One to three layers, some with experts, on two or three devices of which some are short of room.
inline Chain drawn_chain() {
  using rc::gen::inRange;
  const auto devices = *inRange<std::size_t>(2, 4);
  const auto layers = *inRange<std::int64_t>(1, 4);
  const auto times = [&] { return *rc::gen::container<std::vector<Ticks>>(devices, inRange<Ticks>(1, 30)); };
  std::vector<UnitRow> rows;
  const auto add = [&](UnitKind kind, std::int64_t layer) {
    rows.push_back({kind, layer, *inRange<Bytes>(0, 9), times()});
  };
  add(UnitKind::input, -1);
  for (std::int64_t i = 0; i < layers; ++i) {
    add(UnitKind::attention, i);
    add(UnitKind::feed_forward, i);
    if (*inRange(0, 2) == 1) add(UnitKind::experts, i);
  }
  add(UnitKind::output, -1);
  const auto room = *rc::gen::container<std::vector<Bytes>>(devices, inRange<Bytes>(0, 40));
  Chain chain = chain_from(rows, room, *inRange<Ticks>(0, 6));
  for (std::size_t u = 0; u < chain.size(); ++u)
    if (chain.has_experts(u))
      for (std::size_t d = 0; d < devices; ++d)
        chain.beside[u * devices + d] = *inRange<Ticks>(0, chain.time_on(u, d) + 1);
  return chain;
}

// The least of `cost` over all assignments that have room and that `wanted` accepts.
template <class Cost, class Wanted>
std::optional<Ticks> least_of_all(const Chain& chain, Cost&& cost, Wanted&& wanted) {
  std::optional<Ticks> best;
  Assignment assignment(chain.size(), 0);
  for (;;) {
    if (has_room(chain, held(chain, assignment)) && wanted(assignment)) {
      const Ticks ticks = cost(assignment);
      if (ticks != cannot_run && (!best || ticks < *best)) best = ticks;
    }
    std::size_t u = 0;
    while (u < assignment.size() && ++assignment[u] == chain.device_count()) assignment[u++] = 0;
    if (u == assignment.size()) return best;
  }
}

}  // namespace emplace::fit
