#include "serving/cover.hpp"

#include <algorithm>

namespace emplace::serving {

namespace {

__extension__ using Wide = __int128;

}  // namespace

std::vector<CoverItem> cover_items(const std::vector<NodeType>& types, Rate wanted) {
  std::vector<CoverItem> items;
  for (std::size_t t = 0; t < types.size(); ++t) {
    Rate best = 0;
    for (std::size_t k = types[t].speed.size(); k > 0; --k) {
      const Rate rate = std::min(types[t].speed[k - 1], wanted);
      if (rate <= best) continue;
      best = rate;
      items.push_back({t, static_cast<Layers>(k), rate, 0});
    }
  }
  return items;
}

Cover::Cover(std::vector<CoverItem> items, const std::vector<NodeType>& types, Rate wanted)
    : items_(std::move(items)), types_(types), wanted_(wanted), cost_(3 * (cells + 1), none) {
  std::vector<std::size_t> weight;
  for (const CoverItem& item : items_) weight.push_back(cell(item.rate));
  cost_[0] = 0;
  for (std::size_t least = 0; least < 3; ++least)
    for (std::size_t w = least == 0 ? 1 : 0; w <= cells; ++w) {
      const Price* const rest = cost_.data() + (least == 0 ? 0 : least - 1) * (cells + 1);
      Price& cost = cost_[least * (cells + 1) + w];
      for (std::size_t i = 0; i < items_.size(); ++i)
        cost = std::min(cost, items_[i].price + rest[w > weight[i] ? w - weight[i] : 0]);
      cost = std::min(cost, none);
    }
}

// Rounded up: the cells of the items of a set that reaches a rate are at least the cells of the rate.
std::size_t Cover::cell(Rate left) const {
  if (left <= 0) return 0;
  return static_cast<std::size_t>((Wide{left} * cells + wanted_ - 1) / wanted_);
}

// Depth first over items in their order, each as often as wanted.
struct Cover::Search {
  static constexpr std::int64_t most_steps = 20'000;

  explicit Search(const Cover& of) : cover(of) {
    for (const NodeType& type : of.types_) left.push_back(type.count);
  }

  const Cover& cover;
  std::vector<std::int64_t> left = {};  // nodes of each type
  CoverSet chosen, best_set;
  Price best = none;
  std::int64_t steps = 0;

  void visit(std::size_t first, std::size_t least, Rate wanted, Price price) {
    if (wanted <= 0 && least == 0) {
      best = price;
      best_set = chosen;
      return;
    }
    for (std::size_t i = first; i < cover.items_.size() && steps < most_steps; ++i) {
      const CoverItem& item = cover.items_[i];
      if (left[item.type] == 0) continue;
      ++steps;
      const std::size_t still = least > 0 ? least - 1 : 0;
      if (price + item.price + cover.estimate(still, wanted - item.rate) >= best) continue;
      --left[item.type];
      chosen.push_back(static_cast<std::uint32_t>(i));
      visit(i, still, wanted - item.rate, price + item.price);
      chosen.pop_back();
      ++left[item.type];
    }
  }
};

Cover::Cheapest Cover::cheapest(std::size_t least) const {
  Search search(*this);
  search.visit(0, least, wanted_, 0);
  if (search.steps >= Search::most_steps) return {estimate(least, wanted_), std::move(search.best_set)};
  return {search.best, std::move(search.best_set)};
}

Price Cover::cheapest_among(const std::function<bool(std::size_t item)>& allowed) const {
  std::vector<CoverItem> items;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (allowed(i)) items.push_back(items_[i]);
  return Cover(std::move(items), types_, wanted_).cheapest(2).at_least;
}

Price Cover::at_least_with(std::size_t item) const {
  return std::min(none, items_[item].price + estimate(0, wanted_ - items_[item].rate));
}

}  // namespace emplace::serving
