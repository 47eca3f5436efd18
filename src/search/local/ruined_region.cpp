#include "search/local/ruined_region.hpp"

#include <algorithm>

namespace emplace::search {

RuinChoice::RuinChoice() {
  for (const auto region : {RuinKind::Region::neighbours, RuinKind::Region::path})
    for (const auto change : {RuinKind::Change::gather, RuinKind::Change::exchange, RuinKind::Change::scatter})
      for (const std::uint32_t most : sizes_) kinds_.push_back({region, change, most});
  tried_.assign(kinds_.size(), 0);
  helped_.assign(kinds_.size(), 0);
}

std::size_t RuinChoice::draw(Stream& random) {
  // As if each kind had been tried this often before, and helped once: a few failures say little.
  constexpr double tried_before = 20;
  std::vector<double> until;
  double sum = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    sum += (1 + static_cast<double>(helped_[i])) / (tried_before + static_cast<double>(tried_[i]));
    until.push_back(sum);
  }
  const auto at = std::ranges::upper_bound(until, random.uniform() * sum);
  return std::min(static_cast<std::size_t>(at - until.begin()), kinds_.size() - 1);
}

void RuinChoice::report(std::size_t kind, bool helped) {
  ++tried_[kind];
  helped_[kind] += helped ? 1 : 0;
}

RegionRuin::RegionRuin(const Problem& problem, const Grouping& units)
    : problem_(problem), units_(units), seen_(units.count(), 0) {}

template <class Visit>
void RegionRuin::visit_neighbours(std::uint32_t unit, Visit&& visit) const {
  for (const std::uint32_t op : units_.members[unit]) {
    for (const std::uint32_t tensor : problem_.inputs[op]) visit(units_.unit_of_op[problem_.producer[tensor].index()]);
    for (const std::uint32_t tensor : problem_.outputs[op])
      for (const std::uint32_t consumer : problem_.consumers[tensor]) visit(units_.unit_of_op[consumer]);
  }
}

void RegionRuin::add(std::uint32_t unit) {
  if (seen_[unit] == serial_) return;
  seen_[unit] = serial_;
  region_.push_back(unit);
}

void RegionRuin::draw_region(std::span<const std::uint32_t> path, const RuinKind& kind, Stream& random) {
  constexpr std::uint32_t most_of_one = 8;  // neighbours that one unit adds: a variable may have thousands
  region_.clear();
  ++serial_;
  const std::size_t size = 1 + random.below(kind.most);
  if (path.empty()) {
    add(random.below(static_cast<std::uint32_t>(units_.count())));
  } else {
    const std::size_t of_path = kind.region == RuinKind::Region::path ? path.size() : 1;
    for (std::size_t i = 0; i < of_path && region_.size() < size; ++i) add(units_.unit_of_op[path[i]]);
  }
  for (std::size_t i = 0; i < region_.size() && region_.size() < size; ++i) {
    const std::size_t before = region_.size();
    visit_neighbours(region_[i], [&](std::uint32_t other) {
      if (region_.size() < std::min(size, before + most_of_one)) add(other);
    });
  }
}

std::uint8_t RegionRuin::near_device(const Placement& placement, std::uint32_t unit, std::uint8_t home,
                                     Stream& random) const {
  std::uint8_t near = home;
  std::uint32_t count = 0;
  visit_neighbours(unit, [&](std::uint32_t other) {
    const std::uint8_t device = device_of(placement, other);
    if (device != home && random.below(++count) == 0) near = device;
  });
  return near;
}

std::span<const std::uint32_t> RegionRuin::ruin(Placement& placement, std::span<const std::uint32_t> path,
                                                const RuinKind& kind, Stream& random) {
  draw_region(path, kind, random);
  const std::uint8_t home = device_of(placement, any_of_region(random));
  const auto any = static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(problem_.device_count())));
  const std::uint8_t target = random.below(2) == 0 ? any : near_device(placement, any_of_region(random), home, random);
  std::vector<std::pair<std::uint32_t, std::uint8_t>> moves;
  for (const std::uint32_t unit : region_) {
    const std::uint8_t now = device_of(placement, unit);
    std::uint8_t to = now;
    if (kind.change == RuinKind::Change::gather) to = target;
    if (kind.change == RuinKind::Change::exchange) to = now == home ? target : now == target ? home : now;
    if (kind.change == RuinKind::Change::scatter && random.below(2) == 0)
      to = near_device(placement, unit, now, random);
    if (to != now && units_.allows(unit, to)) moves.emplace_back(unit, to);
  }
  for (const auto& [unit, device] : moves)
    for (const std::uint32_t op : units_.members[unit]) placement.device[op] = device;
  return moves.empty() ? std::span<const std::uint32_t>() : region_;
}

}  // namespace emplace::search
