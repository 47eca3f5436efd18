#include "simulate/incremental/ordered_run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace emplace::simulate {

namespace {
constexpr Ticks never = std::numeric_limits<Ticks>::max();
constexpr std::uint32_t least_spacing = 16;
// Lines are the largest part of a checkpoint; the spacing is chosen so that at most four are stored per position.
constexpr std::size_t lines_a_position = 4;
// Upper limits of slack, in mean op times. Two more classes are slots without any slack, and all slots.
constexpr std::array<double, 3> slack_classes = {0.5, 2, 8};
static_assert(OrderedRun::classes == slack_classes.size() + 2);
}  // namespace

OrderedRun::OrderedRun(const Layout& layout)
    : layout_(layout),
      devices_(layout.network.devices),
      ops_(static_cast<std::uint32_t>(layout.problem.op_count())),
      private_(layout.network.private_pairs) {
  const Network& network = layout.network;
  const Problem& p = layout.problem;
  lines_count_ = private_ ? devices_ * devices_ : p.channels.size();
  line_source_.assign(lines_count_, 0);
  line_contended_.assign(lines_count_, 0);
  for (std::size_t pair = 0; pair < devices_ * devices_; ++pair) {
    const bool contended = !network.contended[pair].empty();
    pairs_.push_back({contended ? Ticks{-1} : Ticks{0}, network.column[pair]});
    const auto use = [&](std::size_t line) {
      line_source_[line] = static_cast<std::uint32_t>(pair / devices_);
      line_contended_[line] = -1;
    };
    if (private_ && contended) use(pair);
    if (!private_)
      for (const std::uint32_t channel : network.contended[pair]) use(channel);
  }
  spacing_ = std::max(least_spacing, static_cast<std::uint32_t>(std::bit_ceil(lines_count_ / lines_a_position + 1)));
  boundaries_ = (ops_ + spacing_ - 1) / spacing_;

  const std::size_t edges = layout.edges.size();
  position_.resize(ops_);
  steps_.resize(ops_ + 1);
  slots_.resize(edges + lanes);
  more_inputs_.reserve(edges);
  device_.resize(ops_);
  start_.resize(ops_);
  end_.resize(ops_);
  arrival_.assign(edges + lanes, 0);
  arrival_after_move_.assign(edges + lanes, 0);
  slack_.resize(edges + lanes);
  first_crossing_.resize(boundaries_);
  checkpoints_.assign(boundaries_ * (3 * devices_ + lines_count_), 0);
  thresholds_.resize(classes);
  reach_.resize(boundaries_ * classes);
  free_.resize(devices_);
  lines_.resize(lines_count_);
  sent_.resize(devices_);
  arrival_on_.resize(devices_);
  walked_.reserve(boundaries_);
}

OrderedRun::Checkpoint OrderedRun::checkpoint(std::uint32_t boundary) {
  Ticks* const at = &checkpoints_[boundary * (3 * devices_ + lines_count_)];
  return {at, at + devices_, at + 2 * devices_, at + 3 * devices_};
}

void OrderedRun::lay_out(const Placement& placement) {
  if (order_ != placement.order) {
    order_ = placement.order;
    for (std::uint32_t k = 0; k < ops_; ++k) position_[order_[k]] = k;
    const auto none = static_cast<std::uint32_t>(layout_.edges.size());
    for (Step& step : steps_) step = {0, 0, 0, {none, none}};
    std::uint32_t slot = 0;
    std::fill(first_crossing_.begin(), first_crossing_.end(), ops_);
    // Lists the inputs of each consumer: they are first counted, in `more`, and then filled in.
    for (std::uint32_t k = 0; k < ops_; ++k) {
      const std::uint32_t op = order_[k];
      steps_[k].out = slot;
      std::uint32_t last = k;
      for (std::uint32_t edge = layout_.edge_begin[op]; edge != layout_.edge_begin[op + 1]; ++edge, ++slot) {
        const Edge& from = layout_.edges[edge];
        const std::uint32_t consumer = position_[from.consumer];
        slots_[slot] = {consumer, from.tensor};
        last = std::max(last, consumer);
        Step& step = steps_[consumer];
        if (step.in[0] == none)
          step.in[0] = slot;
        else if (step.in[1] == none)
          step.in[1] = slot;
        else
          ++step.more;
      }
      std::uint32_t& first = first_crossing_[last / spacing_];
      first = std::min(first, k);
    }
    steps_[ops_].out = slot;
    std::uint32_t more = 0;
    for (Step& step : steps_) more += std::exchange(step.more, more);
    more_inputs_.resize(more);
    for (std::uint32_t k = 0; k < ops_; ++k) {
      for (std::uint32_t s = steps_[k].out; s != steps_[k + 1].out; ++s) {
        Step& step = steps_[slots_[s].consumer];
        if (step.in[0] != s && step.in[1] != s) more_inputs_[step.more++] = s;
      }
    }
    for (std::uint32_t k = ops_; k > 0; --k) steps_[k].more = steps_[k - 1].more;
    steps_[0].more = 0;
    for (std::uint32_t b = boundaries_; b-- > 1;)
      first_crossing_[b - 1] = std::min(first_crossing_[b - 1], first_crossing_[b]);
  }
  Ticks total = 0;
  for (std::uint32_t k = 0; k < ops_; ++k) {
    put(k, placement.device[order_[k]]);
    total += steps_[k].time;
  }
  thresholds_.front() = 1;
  for (std::size_t i = 0; i < slack_classes.size(); ++i)
    thresholds_[i + 1] = 1 + static_cast<Ticks>(slack_classes[i] * static_cast<double>(total) / ops_);
  thresholds_.back() = never;
}

void OrderedRun::put(std::uint32_t position, std::uint8_t device) {
  device_[position] = device;
  steps_[position].time = layout_.problem.op_time[order_[position] * devices_ + device];
}

// Simulates positions [begin, end) from the state in free_ and lines_; returns by how much the last op ends later than
// in the base.
template <bool Record, bool Private>
Ticks OrderedRun::walk(std::uint32_t begin, std::uint32_t end) {
  const std::size_t columns = layout_.columns;
  const Ticks* const transfer_time = layout_.transfer_time.data();
  const Step* const steps = steps_.data();
  const Slot* const slots = slots_.data();
  const std::uint8_t* const device = device_.data();
  const Pair* const pairs = pairs_.data();
  Ticks* const free = free_.data();
  Ticks* const lines = lines_.data();
  Ticks* const after_move = arrival_after_move_.data();
  std::uint32_t* const sent = sent_.data();
  Ticks now = 0;
  for (std::uint32_t k = begin; k != end; ++k) {
    const Step& step = steps[k];
    const std::uint32_t from = device[k];
    Ticks start = std::max(free[from], std::max(after_move[step.in[0]], after_move[step.in[1]]));
    for (std::uint32_t i = step.more; i != steps[k + 1].more; ++i) start = std::max(start, after_move[more_inputs_[i]]);
    now = start + step.time;
    free[from] = now;
    if constexpr (Record) {
      start_[k] = start;
      end_[k] = now;
    }
    if constexpr (Private) {
      const std::size_t row = from * devices_;
      for (std::uint32_t s = step.out; s != steps[k + 1].out; ++s) {
        // As in PrivateLinks: after all earlier transfers, or with the tensor's own earlier transfer if there is one.
        const std::uint32_t tensor = slots[s].tensor;
        const std::uint32_t to = device[slots[s].consumer];
        const Pair pair = pairs[row + to];
        const Ticks again = -Ticks{sent[to] == tensor};
        sent[to] = tensor;
        const Ticks duration = transfer_time[tensor * columns + pair.column];
        const Ticks arrival = std::max(lines[row + to] & pair.contended, now) + (duration & ~(again & pair.contended));
        lines[row + to] = arrival;
        after_move[s] = arrival;
      }
    } else {
      send_by_routes(from, now, step.out, steps[k + 1].out);
    }
  }
  return now - end_[end - 1];
}

template <bool Record>
Ticks OrderedRun::walk(std::uint32_t begin, std::uint32_t end) {
  return private_ ? walk<Record, true>(begin, end) : walk<Record, false>(begin, end);
}

template Ticks OrderedRun::walk<false>(std::uint32_t, std::uint32_t);

// As in GeneralLinks: sends each tensor to its devices in ascending order, over all channels of the route at once.
void OrderedRun::send_by_routes(std::uint32_t from, Ticks now, std::uint32_t begin, std::uint32_t end) {
  const Network& network = layout_.network;
  const std::size_t row = from * devices_;
  for (std::uint32_t first = begin; first != end;) {
    const std::uint32_t tensor = slots_[first].tensor;
    bool stays = true;  // as most tensors do
    std::uint32_t last = first;
    for (; last != end && slots_[last].tensor == tensor; ++last) {
      stays &= device_[slots_[last].consumer] == from;
      arrival_after_move_[last] = now;
    }
    if (stays) {
      first = last;
      continue;
    }
    std::array<std::uint64_t, (max_devices + 63) / 64> destinations{};
    for (last = first; last != end && slots_[last].tensor == tensor; ++last) {
      const std::uint32_t to = device_[slots_[last].consumer];
      destinations[to / 64] |= std::uint64_t{1} << (to % 64);
    }
    destinations[from / 64] &= ~(std::uint64_t{1} << (from % 64));
    for (std::uint32_t word = 0; word * 64 < devices_; ++word)
      for (std::uint64_t bits = destinations[word]; bits != 0; bits &= bits - 1) {
        const std::uint32_t to = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        Ticks start = now;
        for (const std::uint32_t channel : network.contended[row + to]) start = std::max(start, lines_[channel]);
        arrival_on_[to] = start + layout_.transfers_of(tensor)[network.column[row + to]];
        for (const std::uint32_t channel : network.contended[row + to]) lines_[channel] = arrival_on_[to];
      }
    arrival_on_[from] = now;
    for (; first != last; ++first) arrival_after_move_[first] = arrival_on_[device_[slots_[first].consumer]];
  }
}

void OrderedRun::load(std::uint32_t boundary) {
  const Checkpoint at = checkpoint(boundary);
  std::copy_n(at.free, devices_, free_.begin());
  std::copy_n(at.lines, lines_count_, lines_.begin());
  std::fill(sent_.begin(), sent_.end(), TensorId::none_value);
}

Ticks OrderedRun::record(std::uint32_t from) {
  std::uint32_t boundary = from / spacing_;
  load(boundary);  // the first checkpoint is always all 0
  const std::uint32_t first = steps_[boundary * spacing_].out;
  while (true) {
    const std::uint32_t begin = boundary * spacing_;
    walk<true>(begin, std::min(begin + spacing_, ops_));
    if (++boundary == boundaries_) break;
    const Checkpoint at = checkpoint(boundary);
    std::copy(free_.begin(), free_.end(), at.free);
    std::copy(lines_.begin(), lines_.end(), at.lines);
  }
  makespan_ = *std::max_element(free_.begin(), free_.end());
  std::copy(arrival_after_move_.begin() + first, arrival_after_move_.end(), arrival_.begin() + first);
  summarise();
  return makespan_;
}

// Fills in the checkpoints' next_start and next_end, slack_ and reach_.
void OrderedRun::summarise() {
  std::vector<Ticks>& next_start = free_;
  std::vector<Ticks>& next_end = arrival_on_;
  std::fill(next_start.begin(), next_start.end(), makespan_);
  std::fill(next_end.begin(), next_end.end(), never);
  for (std::uint32_t boundary = boundaries_; boundary-- > 0;) {
    const std::uint32_t begin = boundary * spacing_;
    for (std::uint32_t k = std::min(begin + spacing_, ops_); k-- > begin;) {
      next_start[device_[k]] = start_[k];
      next_end[device_[k]] = end_[k];
    }
    const Checkpoint at = checkpoint(boundary);
    std::copy(next_start.begin(), next_start.end(), at.next_start);
    std::copy(next_end.begin(), next_end.end(), at.next_end);
  }
  std::array<std::uint32_t, classes> reach{};
  for (std::uint32_t boundary = 0; boundary < boundaries_; ++boundary) {
    std::copy(reach.begin(), reach.end(), &reach_[boundary * classes]);
    const std::uint32_t end = std::min((boundary + 1) * spacing_, ops_);
    for (std::uint32_t s = steps_[boundary * spacing_].out; s != steps_[end].out; ++s) {
      const std::uint32_t consumer = slots_[s].consumer;
      const Ticks slack = slack_[s] = start_[consumer] - arrival_[s];
      for (std::size_t i = 0; i < classes; ++i) reach[i] = std::max(reach[i], slack < thresholds_[i] ? consumer : 0);
    }
  }
}

}  // namespace emplace::simulate
