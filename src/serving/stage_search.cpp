#include "serving/stage_search.hpp"

#include <algorithm>
#include <cmath>

namespace emplace::serving {

namespace {

// Temperatures in layers.
constexpr double hottest = 1.0, coldest = 0.06;
// What a link that lets nothing through counts, in layers.
constexpr double link_weight = 3.0;
constexpr std::uint64_t stage_moves_between_looks = 256;

}  // namespace

StageSearch::StageSearch(const Cluster& cluster, FlowEvaluator& flow, Rate enough, Stream& stream)
    : cluster_(cluster),
      flow_(flow),
      enough_(enough),
      links_bind_(links_may_bind(cluster)),
      stream_(stream),
      slots_(cluster.size() + 1),
      best_(cluster.size()) {}

void StageSearch::start(const Stages& stages) {
  slots_.assign(cluster_.size() + 1, {});
  std::vector<std::uint8_t> used(cluster_.size(), 0);
  for (std::size_t g = 0; g < stages.size(); ++g) {
    slots_[g].stage = stages[g];
    for (const NodeIndex node : stages[g].nodes) used[node] = 1;
  }
  for (NodeIndex node = 0; node < used.size(); ++node)
    if (used[node] == 0) slots_.back().stage.nodes.push_back(node);
  want(std::max<Rate>(best_rate_ + 1, 1));
}

void StageSearch::learn(const Layout& layout, Rate rate) {
  if (rate <= best_rate_) return;
  best_ = layout;
  best_rate_ = rate;
}

void StageSearch::want(Rate rate) {
  wanted_ = rate;
  for (std::size_t g = 0; g < cluster_.size(); ++g) measure(slots_[g]);
}

void StageSearch::measure(Slot& slot) {
  slot.length = slot.stage.length(wanted_);
  slot.version = ++versions_;
  slot.before = 0;
}

double StageSearch::lack() {
  std::int64_t fits = 0;
  for (std::size_t g = 0; g < cluster_.size(); ++g) fits += slots_[g].length;
  double sum = static_cast<double>(std::max<std::int64_t>(0, std::int64_t{cluster_.layers} - fits));
  if (!links_bind_) return sum;
  const auto add = [&](Rate passed) {
    if (passed < wanted_) sum += link_weight * (1 - static_cast<double>(passed) / static_cast<double>(wanted_));
  };
  const Slot* before = nullptr;
  for (std::size_t g = 0; g < cluster_.size(); ++g) {
    Slot& slot = slots_[g];
    if (slot.length == 0) continue;
    if (before == nullptr) {
      add(rate_from_source(cluster_, slot.stage, slot.length));
    } else {
      if (slot.before != before->version) {
        slot.passed = rate_between(cluster_, before->stage, before->length, slot.stage, slot.length);
        slot.before = before->version;
      }
      add(slot.passed);
    }
    before = &slot;
  }
  if (before != nullptr) add(rate_to_sink(cluster_, before->stage, before->length));
  return sum;
}

void StageSearch::save(std::size_t slot) { undo_.emplace_back(Restore{slot, slots_[slot]}); }

void StageSearch::settle(std::size_t slot) {
  if (slot == cluster_.size()) return;
  slots_[slot].stage.update(cluster_);
  measure(slots_[slot]);
}

void StageSearch::rotate(Rotate how) {
  const auto at = [&](std::size_t slot) { return slots_.begin() + static_cast<std::ptrdiff_t>(slot); };
  std::rotate(at(how.first), at(how.middle), at(how.last));
}

void StageSearch::move_slot(std::size_t from, std::size_t to) {
  if (from == to) return;
  const Rotate how = from < to ? Rotate{from, from + 1, to + 1} : Rotate{to, from, from + 1};
  rotate(how);
  undo_.emplace_back(Rotate{how.first, how.first + how.last - how.middle, how.last});
}

// Several stages in a row, to another place.
void StageSearch::move_segment() {
  std::size_t ends[3];
  for (std::size_t& end : ends) end = stream_.below(static_cast<std::uint32_t>(cluster_.size() + 1));
  std::sort(std::begin(ends), std::end(ends));
  if (ends[0] == ends[1] || ends[1] == ends[2]) return;
  rotate({ends[0], ends[1], ends[2]});
  undo_.emplace_back(Rotate{ends[0], ends[0] + ends[2] - ends[1], ends[2]});
}

std::size_t StageSearch::draw_filled() {
  std::size_t slot = 0;
  do slot = stream_.below(static_cast<std::uint32_t>(slots_.size()));
  while (slots_[slot].stage.nodes.empty());
  return slot;
}

void StageSearch::move_node() {
  std::size_t from = draw_filled();
  std::size_t to = stream_.below(static_cast<std::uint32_t>(slots_.size()));
  if (to == from) return;
  if (to < cluster_.size() && slots_[to].stage.nodes.empty() && from < cluster_.size() && links_bind_) {
    // A new stage, beside the old one half of the time.
    const std::size_t place = stream_.below(2) == 0 ? from : stream_.below(static_cast<std::uint32_t>(cluster_.size()));
    move_slot(to, place);
    if (to < from && from <= place)
      --from;
    else if (place <= from && from < to)
      ++from;
    to = place;
  }
  save(from);
  save(to);
  std::vector<NodeIndex>& nodes = slots_[from].stage.nodes;
  const std::size_t which = stream_.below(static_cast<std::uint32_t>(nodes.size()));
  slots_[to].stage.nodes.push_back(nodes[which]);
  nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(which));
  settle(from);
  settle(to);
}

void StageSearch::swap_nodes() {
  const std::size_t a = draw_filled(), b = draw_filled();
  if (a == b) return;
  save(a);
  save(b);
  std::vector<NodeIndex>&first = slots_[a].stage.nodes, &second = slots_[b].stage.nodes;
  std::swap(first[stream_.below(static_cast<std::uint32_t>(first.size()))],
            second[stream_.below(static_cast<std::uint32_t>(second.size()))]);
  settle(a);
  settle(b);
}

void StageSearch::merge_stages() {
  const std::size_t a = draw_filled(), b = draw_filled();
  if (a == b || a == cluster_.size()) return;
  save(a);
  save(b);
  std::vector<NodeIndex>&from = slots_[a].stage.nodes, &to = slots_[b].stage.nodes;
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
  settle(a);
  settle(b);
}

void StageSearch::change() {
  undo_.clear();
  const std::uint32_t kind = stream_.below(links_bind_ ? 13 : 9);
  if (kind < 4)
    move_node();
  else if (kind < 8)
    swap_nodes();
  else if (kind < 9)
    merge_stages();
  else if (kind < 12)
    move_slot(stream_.below(static_cast<std::uint32_t>(cluster_.size())),
              stream_.below(static_cast<std::uint32_t>(cluster_.size())));
  else
    move_segment();
}

void StageSearch::undo() {
  for (; !undo_.empty(); undo_.pop_back())
    if (auto* const restore = std::get_if<Restore>(&undo_.back()))
      slots_[restore->slot] = std::move(restore->was);
    else
      rotate(std::get<Rotate>(undo_.back()));
}

void StageSearch::take_if_better() {
  Stages stages;
  for (std::size_t g = 0; g < cluster_.size(); ++g)
    if (slots_[g].length > 0) stages.push_back(slots_[g].stage);
  const Layout layout = layout_of(cluster_, stages);
  learn(layout, flow_.throughput(layout));
}

std::uint64_t StageSearch::anneal(std::uint64_t moves, double aspiration, const std::function<bool()>& ended) {
  const auto next_wanted = [&] {
    const Rate step = enough_ > best_rate_ ? std::llround(aspiration * static_cast<double>(enough_ - best_rate_)) : 0;
    return best_rate_ + std::max<Rate>(1, step);
  };
  want(next_wanted());
  double now = lack();
  for (std::uint64_t move = 0; move < moves; ++move) {
    if (now == 0) {
      const Rate before = best_rate_;
      take_if_better();
      if (enough_ > 0 && best_rate_ >= enough_) return move;
      if (best_rate_ > before) {
        want(next_wanted());
        now = lack();
      }
    }
    if (move % stage_moves_between_looks == 0 && ended()) return move;
    const double part = static_cast<double>(move) / static_cast<double>(moves);
    const double temperature = hottest * std::pow(coldest / hottest, part);
    change();
    if (undo_.empty()) continue;
    const double next = lack();
    if (next <= now || stream_.uniform() < std::exp((now - next) / temperature))
      now = next;
    else
      undo();
  }
  if (now == 0) take_if_better();
  return moves;
}

}  // namespace emplace::serving
