// Contiguous split: the units in topological order are cut into one piece per device, so that the longest piece is as
// short as possible. This is tried for the first k devices of each kind (GPUs first), for those of all kinds together,
// and for three views of memory; the best by the evaluator is returned. If cuts are limited, splits with few cuts are
// tried too (few_cuts.hpp).
#include <algorithm>
#include <bit>
#include <optional>

#include "emplace/search/scorer.hpp"
#include "search/common/units.hpp"
#include "search/constructive/few_cuts.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

// GPUs first, then other kinds, CPUs last; devices of a kind in the problem's order.
std::vector<std::vector<std::uint8_t>> devices_by_kind(const Problem& problem) {
  std::vector<std::string> kinds;
  for (const Device& device : problem.devices)
    if (std::find(kinds.begin(), kinds.end(), device.kind) == kinds.end()) kinds.push_back(device.kind);
  const auto rank = [](const std::string& kind) { return kind == "gpu" ? 0 : kind == "cpu" ? 2 : 1; };
  std::stable_sort(kinds.begin(), kinds.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  std::vector<std::vector<std::uint8_t>> lists;
  for (const std::string& kind : kinds) {
    auto& list = lists.emplace_back();
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      if (problem.devices[d].kind == kind) list.push_back(static_cast<std::uint8_t>(d));
  }
  return lists;
}

std::vector<std::vector<std::uint8_t>> device_lists(const Problem& problem) {
  const auto by_kind = devices_by_kind(problem);
  std::vector<std::vector<std::uint8_t>> lists;
  const auto add_prefixes = [&](const std::vector<std::uint8_t>& list, std::size_t from) {
    for (std::size_t k = from; k <= list.size(); ++k)
      lists.emplace_back(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(k));
  };
  std::vector<std::uint8_t> all;
  for (const auto& list : by_kind) {
    add_prefixes(list, 1);
    all.insert(all.end(), list.begin(), list.end());
  }
  if (by_kind.size() > 1) add_prefixes(all, by_kind.front().size() + 1);
  return lists;
}

class Splitter {
 public:
  Splitter(const Problem& problem, const Units& units, MemoryView view)
      : problem_(problem), units_(units), view_(view) {}

  // Gives each device the longest prefix of the remaining units that stays within `limit` and its memory; for the given
  // order of devices no other cut leaves less to the later ones. A unit that the device cannot run goes to its fastest
  // device, and is not counted in any load. Returns nothing if units are left over.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> fill(const std::vector<std::uint8_t>& devices,
                                                              Ticks limit) const {
    std::vector<std::uint8_t> of_unit(units_.count());
    std::size_t piece = 0;
    Ticks load = 0;
    Bytes used = 0;
    for (std::size_t unit = 0; unit < units_.count(); ++unit) {
      while (true) {
        if (piece == devices.size()) return std::nullopt;
        const std::size_t device = devices[piece];
        if (!units_.grouping.allows(unit, device)) break;
        const Ticks time = units_.time[unit * units_.devices + device];
        const Bytes need = units_.memory(unit, view_);
        const bool fits = need == 0 || problem_.devices[device].memory == no_memory_limit ||
                          used + need <= problem_.devices[device].memory;
        if (fits && load + time <= limit) {
          load += time;
          used += need;
          break;
        }
        ++piece;
        load = 0;
        used = 0;
      }
      of_unit[unit] = units_.device_or_fastest(unit, devices[piece]);
    }
    return of_unit;
  }

  // A split whose longest piece is at most 0.1 % longer than the shortest possible.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> best(const std::vector<std::uint8_t>& devices) const {
    Ticks enough = 0;
    for (std::size_t unit = 0; unit < units_.count(); ++unit) {
      Ticks slowest = 0;
      for (const std::uint8_t device : devices)
        slowest = std::max(slowest, units_.time[unit * units_.devices + device]);
      enough += slowest;
    }
    auto split = fill(devices, enough);
    if (!split) return split;
    Ticks too_little = 0;
    while (enough - too_little > std::max<Ticks>(1, enough / 1000)) {
      const Ticks middle = too_little + (enough - too_little) / 2;
      if (auto next = fill(devices, middle)) {
        split = std::move(next);
        enough = middle;
      } else {
        too_little = middle;
      }
    }
    return split;
  }

 private:
  const Problem& problem_;
  const Units& units_;
  MemoryView view_;
};

// Of the lists of more than eight devices only some, because the time for one grows with its length.
bool is_tried_with_few_cuts(std::size_t length, std::size_t devices) {
  return length <= 8 || length == devices || std::has_single_bit(length);
}

void try_few_cuts(const Problem& problem, const Units& units, Scorer& scorer) {
  auto lists = device_lists(problem);
  std::erase_if(lists, [&](const auto& list) { return !is_tried_with_few_cuts(list.size(), problem.device_count()); });
  for (const auto& sequence : sequences_for_few_cuts(problem, units)) {
    const FewCutSplitter splitter(problem, units, sequence);
    for (const auto& devices : lists)
      for (const MemoryView view : {MemoryView::outputs, MemoryView::resident, MemoryView::none}) {
        if (scorer.exhausted()) return;
        for (const auto& split : {splitter.shortest(devices, view), splitter.fewest_cuts(devices, view)})
          if (split) scorer.score(units.grouping.expand(*split));
      }
  }
}

PlacerResult place_contiguous(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Units units(*request.problem);
  Scorer scorer(request);
  std::vector<std::vector<std::uint8_t>> tried;
  for (const auto& devices : device_lists(*request.problem))
    for (const MemoryView view : {MemoryView::none, MemoryView::resident, MemoryView::outputs}) {
      if (scorer.exhausted()) return scorer.result();
      auto split = Splitter(*request.problem, units, view).best(devices);
      if (!split || std::find(tried.begin(), tried.end(), *split) != tried.end()) continue;
      scorer.score(units.grouping.expand(*split));
      tried.push_back(std::move(*split));
    }
  if (request.problem->max_cuts != no_cut_limit) try_few_cuts(*request.problem, units, scorer);
  return scorer.result();
}

}  // namespace

PlacerEntry contiguous_placer() {
  PlacerEntry entry;
  entry.name = "contiguous";
  entry.summary =
      "Topological order cut into one piece per device, balanced by cost; the best of several device lists. With "
      "--max-cuts also the pieces between which few tensors cross.";
  entry.options = list_options<NoOptions>;
  entry.place = place_contiguous;
  return entry;
}

}  // namespace emplace::search
