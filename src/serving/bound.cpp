// For a rate F, prices of nodes are looked for with which the layers cost more than all nodes are worth: then no layout
// passes F. The prices come from a linear program, as multipliers of its rows (cutting planes over cheapest covers);
// what they prove is computed in integers (cover.hpp). F is found by bisection.
//
// Crossings: let the links of rate F or more divide the cluster into parts, of which none can pass F alone. Then some
// layer has at least two nodes: either nodes of two parts pass it, or all of the flow crosses between two parts behind
// or before it, over links that are too slow for one pair of nodes. The layers that one of these nodes holds then cost
// at least what a cheapest cover with this node costs, and the layer itself what a cheapest cover with two nodes costs.
#include "serving/bound.hpp"

#include <ClpSimplex.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "search/common/deadline.hpp"
#include "search/common/solver_process.hpp"
#include "serving/cover.hpp"

namespace emplace::serving {

namespace {

using search::Deadline;
__extension__ using Wide = __int128;

constexpr double price_scale = 0x1p44;
constexpr int most_rounds = 400;

std::vector<NodeType> types_of(const std::vector<std::vector<Rate>>& speed, const std::vector<std::size_t>& nodes) {
  std::map<std::vector<Rate>, std::int64_t> count;
  for (const std::size_t node : nodes)
    if (!speed[node].empty()) ++count[speed[node]];
  std::vector<NodeType> types;
  for (const auto& [speeds, n] : count) types.push_back({speeds, n});
  return types;
}

// Layers x wanted <= sum over nodes of the most that each adds to it.
bool capacity_suffices(const std::vector<NodeType>& types, Layers layers, Rate wanted) {
  Wide sum = 0;
  for (const NodeType& type : types) {
    Wide most = 0;
    for (std::size_t k = 1; k <= type.speed.size(); ++k)
      most = std::max(most, Wide(k) * std::min(type.speed[k - 1], wanted));
    sum += most * type.count;
  }
  return sum >= Wide{layers} * wanted;
}

// One rate for one set of nodes.
class CoverProof {
 public:
  CoverProof(const std::vector<NodeType>& types, Layers layers, Rate wanted, bool crosses, const Deadline& deadline)
      : types_(types),
        layers_(layers),
        wanted_(wanted),
        crosses_(crosses),
        deadline_(deadline),
        items_(cover_items(types, wanted)) {}

  // Whether prices are found that prove that no layout passes the rate.
  bool found() {
    const auto count = static_cast<int>(types_.size());
    if (count == 0) return true;
    ClpSimplex program;
    program.setLogLevel(0);
    program.resize(0, count + 2);
    program.setOptimizationDirection(-1);
    std::vector<int> columns(types_.size() + 2);
    std::iota(columns.begin(), columns.end(), 0);
    std::vector<double> worth;
    for (int t = 0; t < count; ++t) {
      program.setColumnBounds(t, 0, 1);
      worth.push_back(static_cast<double>(types_[static_cast<std::size_t>(t)].count));
    }
    program.setColumnBounds(count, 0, 2);
    program.setColumnBounds(count + 1, 0, crosses_ ? 1 : 0);
    program.setObjectiveCoefficient(count, layers_);  // the cost of a layer
    program.setObjectiveCoefficient(count + 1, 1);    // what the layer with two nodes costs more
    program.addRow(count, columns.data(), worth.data(), 1, 1);

    std::vector<double> prices = first_prices();
    for (int round = 0; round < most_rounds && !deadline_.passed(); ++round) {
      const Cover cover = priced(prices);
      const Cover::Cheapest one = cover.cheapest();
      if (one.at_least == Cover::none) return true;  // no nodes reach the rate together
      const Cover::Cheapest two = crosses_ ? cover.cheapest(2) : Cover::Cheapest{};
      if (proves(cover, one.at_least, two.at_least)) return true;
      if (one.set.empty()) return false;
      add_row(program, columns, one.set, false);
      if (crosses_ && !two.set.empty()) add_row(program, columns, two.set, true);
      program.dual();
      if (program.status() != 0) return false;
      // With the sets found so far already, no prices prove it.
      if (program.objectiveValue() <= 1 - 1e-9) return false;
      const double* const values = program.primalColumnSolution();
      if (stuck(values)) return false;
      prices.assign(values, values + count);
    }
    return false;
  }

 private:
  // Those of the bound by capacity.
  [[nodiscard]] std::vector<double> first_prices() const {
    std::vector<double> prices(types_.size(), 0);
    for (const CoverItem& item : items_)
      prices[item.type] = std::max(prices[item.type], static_cast<double>(item.rate) * item.layers);
    double sum = 0;
    for (std::size_t t = 0; t < prices.size(); ++t) sum += prices[t] * static_cast<double>(types_[t].count);
    for (double& price : prices) price /= sum;
    return prices;
  }

  Cover priced(const std::vector<double>& prices) {
    node_price_.clear();
    for (const double price : prices) node_price_.push_back(std::llround(std::max(0.0, price) * price_scale));
    std::vector<CoverItem> items = items_;
    for (CoverItem& item : items) item.price = node_price_[item.type] / item.layers;
    return {std::move(items), types_, wanted_};
  }

  [[nodiscard]] bool proves(const Cover& cover, Price one, Price two) const {
    Wide worth = 0;
    for (std::size_t t = 0; t < types_.size(); ++t) worth += Wide{node_price_[t]} * types_[t].count;
    const Wide plain = Wide{layers_} * one;
    if (plain > worth) return true;
    if (!crosses_ || two <= one) return false;
    return plain + crossing(cover, one) > worth;
  }

  // What a layer with two nodes, and the other layers of one of them, cost more than other layers at least.
  [[nodiscard]] static Wide crossing(const Cover& cover, Price one) {
    const std::vector<CoverItem>& items = cover.items();
    std::vector<Wide> more;  // in the other layers of each item
    for (std::size_t i = 0; i < items.size(); ++i)
      more.push_back(Wide{items[i].layers - 1} * std::max<Price>(0, cover.at_least_with(i) - one));
    std::vector<Wide> levels = more;
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    Wide least = Cover::none;
    for (const Wide level : levels) {
      if (level >= least) break;
      // Sets in which no item costs more than `level` in its other layers.
      const Price two = cover.cheapest_among([&](std::size_t i) { return more[i] <= level; });
      least = std::min(least, level + std::max<Price>(0, two - one));
    }
    return least;
  }

  // The cost of a layer is at most that of the set; with `two`, so is the cost of the layer with two nodes.
  void add_row(ClpSimplex& program, const std::vector<int>& columns, const CoverSet& set, bool two) const {
    std::vector<double> row(types_.size() + 2, 0);
    for (const std::uint32_t i : set) row[items_[i].type] -= 1.0 / items_[i].layers;
    row[types_.size()] = 1;
    row[types_.size() + 1] = two ? 1 : 0;
    program.addRow(static_cast<int>(columns.size()), columns.data(), row.data(), -COIN_DBL_MAX, 0);
  }

  // Whether the program gave these prices in the round before.
  [[nodiscard]] bool stuck(const double* values) {
    std::vector<double> now(values, values + types_.size() + 2);
    const bool same = now == last_;
    last_ = std::move(now);
    return same;
  }

  const std::vector<NodeType>& types_;
  const Layers layers_;
  const Rate wanted_;
  const bool crosses_;
  const Deadline& deadline_;
  const std::vector<CoverItem> items_;
  std::vector<Price> node_price_;
  std::vector<double> last_;
};

class Bounder {
 public:
  Bounder(const Cluster& cluster, const Deadline& deadline) : cluster_(cluster), deadline_(deadline) {
    const std::size_t count = cluster.size();
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t n = 0; n < count; ++n) {
      // A node passes on no more than its links bring and take.
      Rate linked = 0;
      for (std::size_t m = 0; m < count; ++m) linked = std::min(total_rate_limit, linked + cluster.between(m, n));
      const Rate limit = std::min(std::max(linked, cluster.from_source[n]), std::max(linked, cluster.to_sink[n]));
      speed_.push_back(cluster.nodes[n].speed);
      for (Rate& speed : speed_.back()) speed = std::min(speed, limit);
      if (limit == 0) speed_.back().clear();
    }
    types_ = types_of(speed_, all);
  }

  UpperBound best(Rate known) {
    UpperBound bound{.rate = most_at_ends(), .method = "capacity"};
    // What is proved: no layout passes more than `bound`. What is not: that none passes `open`.
    Rate open = known;
    const auto bisect = [&](const char* method, auto&& refutes) {
      bool first = true;
      while (open < bound.rate && !deadline_.passed()) {
        const Rate tried = first ? open + 1 : open + (bound.rate - open + 1) / 2;
        first = false;
        if (refutes(tried))
          bound = {tried - 1, method};
        else
          open = tried;
      }
      open = known;
    };
    bisect("capacity", [&](Rate rate) { return !capacity_suffices(types_, cluster_.layers, rate); });
    bisect("cover", [&](Rate rate) { return CoverProof(types_, cluster_.layers, rate, false, deadline_).found(); });
    bisect("crossings", [&](Rate rate) {
      return must_cross(rate) && CoverProof(types_, cluster_.layers, rate, true, deadline_).found();
    });
    return bound;
  }

 private:
  [[nodiscard]] Rate most_at_ends() const {
    const auto sum = [](const std::vector<Rate>& rates) {
      Rate total = 0;
      for (const Rate rate : rates) total = std::min(total_rate_limit, total + rate);
      return total;
    };
    return std::min(sum(cluster_.from_source), sum(cluster_.to_sink));
  }

  // Whether it is proved that no part of the cluster passes the rate alone; parts are joined by links of that rate.
  [[nodiscard]] bool must_cross(Rate rate) const {
    const std::size_t count = cluster_.size();
    std::vector<std::uint8_t> seen(count, 0);
    std::size_t parts = 0;
    for (std::size_t first = 0; first < count; ++first) {
      if (seen[first] != 0) continue;
      std::vector<std::size_t> part{first};
      seen[first] = 1;
      for (std::size_t i = 0; i < part.size(); ++i)
        for (std::size_t other = 0; other < count; ++other)
          if (seen[other] == 0 && cluster_.between(part[i], other) >= rate) {
            seen[other] = 1;
            part.push_back(other);
          }
      ++parts;
      if (part.size() == count) return false;
      const std::vector<NodeType> types = types_of(speed_, part);
      if (capacity_suffices(types, cluster_.layers, rate) &&
          !CoverProof(types, cluster_.layers, rate, false, deadline_).found())
        return false;
    }
    return parts > 1;
  }

  const Cluster& cluster_;
  const Deadline& deadline_;
  std::vector<std::vector<Rate>> speed_;  // N x layers, as far as links allow
  std::vector<NodeType> types_;
};

}  // namespace

UpperBound upper_bound(const Cluster& cluster, Rate known, const BoundLimits& limits) {
  const Deadline outer(limits.seconds, limits.stop);
  // CLP is in a child process, because valid programs make some of its assertions fail. The methods by their numbers.
  constexpr const char* methods[] = {"capacity", "cover", "crossings"};
  const auto text = search::run_solver(
      "CLP", "the bound of the throughput may be larger", [&] { return outer.passed(); },
      [&](const std::function<bool()>& stopped) {
        const Deadline deadline(limits.seconds ? std::optional(outer.left()) : std::nullopt, stopped);
        const UpperBound bound = Bounder(cluster, deadline).best(known);
        const auto method = std::find(std::begin(methods), std::end(methods), bound.method) - std::begin(methods);
        return search::text_of(std::vector<Rate>{bound.rate, method});
      });
  if (!text) return {total_rate_limit, methods[0]};
  const std::vector<Rate> numbers = search::numbers_of<Rate>(*text);
  return {numbers.at(0), methods[static_cast<std::size_t>(numbers.at(1))]};
}

}  // namespace emplace::serving
