// The walk of the batch engine, `width` lanes at a time: in-order, as PlainInOrder (in_order.cpp), with selections by
// mask in the place of look-ups. Times are doubles below 2^53, so sums and maxima are exact. Included by one file for
// each instruction set.
#pragma once

#include "batch_lanes.hpp"
#include "batch_pack.hpp"
#include "batch_view.hpp"

namespace emplace::batch {
namespace {

template <unsigned N>
struct Number {
  static constexpr unsigned value = N;
};
// Calls f(Number<0>) .. f(Number<N-1>): positions that are known when compiling keep arrays in registers.
template <unsigned N, class F>
[[gnu::always_inline]] inline void each(F&& f) {
  if constexpr (N > 0) {
    each<N - 1>(f);
    f(Number<N - 1>{});
  }
}

// The element of `values` whose mask holds, where exactly one does.
template <unsigned N>
[[gnu::always_inline]] inline Vector choose_one(const Mask* masks, const Vector* values) {
  Vector chosen = values[0];
  each<N>([&](auto d) {
    if constexpr (d.value > 0) chosen = choose(masks[d.value], values[d.value], chosen);
  });
  return chosen;
}

[[gnu::always_inline]] inline void put(double* slots, std::uint32_t slot, Vector time) {
  double* const at = slots + std::size_t{slot >> 1} * lanes;
  store(at, slot & 1 ? time : larger(load(at), time));
}

// Few devices: free times of devices and of pairs of devices live in registers.
template <unsigned D, bool Uniform>
void walk_one_hot(const View& view, unsigned first) {
  const std::uint32_t* code = view.code;
  const double* op_time = view.op_time;
  const double* transfer = view.transfer;
  double* const ready = view.ready + first;
  Vector free[D], pair[D][D];
  each<D>([&](auto i) {
    free[i.value] = all(0);
    each<D>([&](auto j) { pair[i.value][j.value] = all(0); });
  });
  for (const std::uint32_t* const end_of_code = code + view.code_size; code != end_of_code;) {
    const std::uint64_t* const where = view.where + *code++;
    const std::uint32_t slot = *code++;
    std::uint32_t tensors = *code++;
    Mask here[D];
    Vector times[D];
    each<D>([&](auto d) {
      here[d.value] = lanes_on(where, d.value, first);
      times[d.value] = all(op_time[d.value]);
    });
    op_time += D;
    Vector start = choose_one<D>(here, free);
    if (slot != no_slot) start = larger(start, load(ready + std::size_t{slot} * lanes));
    const Vector end = add(start, choose_one<D>(here, times));
    each<D>([&](auto d) { free[d.value] = choose(here[d.value], end, free[d.value]); });

    for (; tensors != 0; --tensors) {
      std::uint32_t consumers = *code++;
      std::uint64_t destinations = 0;
      for (std::uint32_t c = 0; c < consumers; ++c) destinations |= view.where[code[2 * c]];
      destinations &= ~*where;
      Vector arrival[D];
      each<D>([&](auto j) {
        // The free time of the pair (here, j), then the end of the transfer. It means nothing where j is here.
        Vector line = all(0);
        Vector lasts = all(transfer[0]);
        each<D>([&](auto i) {
          if constexpr (i.value != j.value) {
            constexpr bool initial = i.value == (j.value == 0 ? 1 : 0);
            line = initial ? pair[i.value][j.value] : choose(here[i.value], pair[i.value][j.value], line);
            if constexpr (!Uniform) {
              const Vector of_pair = all(transfer[view.column[i.value * D + j.value]]);
              lasts = initial ? of_pair : choose(here[i.value], of_pair, lasts);
            }
          }
        });
        line = choose(lanes_on(destinations, j.value, first), add(larger(line, end), lasts), line);
        each<D>([&](auto i) {
          if constexpr (i.value != j.value)
            if (Uniform || view.contended[i.value * D + j.value])
              pair[i.value][j.value] = choose(here[i.value], line, pair[i.value][j.value]);
        });
        arrival[j.value] = choose(here[j.value], end, line);
      });
      transfer += view.columns;
      for (; consumers != 0; --consumers, code += 2) {
        const std::uint64_t* const to = view.where + code[0];
        Mask there[D];
        each<D>([&](auto d) { there[d.value] = lanes_on(to, d.value, first); });
        put(ready, code[1], choose_one<D>(there, arrival));
      }
    }
  }
  Vector last = free[0];
  each<D>([&](auto d) { last = larger(last, free[d.value]); });
  store(view.makespan + first, last);
}

// More devices: free times live in memory, [device][lane] and [pair][lane].
template <bool Uniform>
void walk_gathered(const View& view, unsigned first) {
  const std::uint32_t* code = view.code;
  const double* op_time = view.op_time;
  const double* transfer = view.transfer;
  const unsigned devices = view.devices;
  double* const ready = view.ready + first;
  double* const device_free = view.free;
  double* const pair_free = device_free + devices * width;
  for (unsigned i = 0; i < (1 + devices) * devices; ++i) store(device_free + i * width, all(0));
  const Index lane = lane_numbers();
  Vector last = all(0);
  for (const std::uint32_t* const end_of_code = code + view.code_size; code != end_of_code;) {
    const Index here = devices_of(view.device + std::size_t{*code++} * lanes + first);
    const std::uint32_t slot = *code++;
    std::uint32_t tensors = *code++;
    const Index free_at = plus(times(here, width), lane);
    Vector start = gather(device_free, free_at);
    if (slot != no_slot) start = larger(start, load(ready + std::size_t{slot} * lanes));
    const Vector end = add(start, gather(op_time, here));
    op_time += devices;
    scatter(device_free, free_at, end);
    last = larger(last, end);
    const Index row = times(here, devices);

    for (; tensors != 0; --tensors, transfer += view.columns) {
      // A copy that is already sent arrives when its pair of devices is free again.
      Index sent_to = no_set();
      for (std::uint32_t consumers = *code++; consumers != 0; --consumers, code += 2) {
        const Index there = devices_of(view.device + std::size_t{code[0]} * lanes + first);
        const Index pair = plus(row, there);
        const Index pair_at = plus(times(pair, width), lane);
        const Vector line = gather(pair_free, pair_at);
        Mask sent = contains(sent_to, there);
        sent_to = with(sent_to, there);
        Vector arrival;
        if constexpr (Uniform) {
          arrival = choose(sent, line, add(larger(line, end), all(transfer[0])));
          scatter(pair_free, pair_at, arrival);
        } else {
          const Mask contended = as_mask(gather(view.contended, pair));
          const Vector lasts = gather(transfer, gather(view.column, pair));
          arrival = choose(both(sent, contended), line, add(larger(line, end), lasts));
          scatter(pair_free, pair_at, choose(contended, arrival, all(0)));
        }
        put(ready, code[1], choose(equal(here, there), end, arrival));
      }
    }
  }
  store(view.makespan + first, last);
}

template <unsigned D, bool Uniform>
void walk_all_one_hot(const View& view) {
  for (unsigned first = 0; first < lanes; first += width) walk_one_hot<D, Uniform>(view, first);
}

void run(const View& view) {
  pack(view);
  switch (view.devices) {
    case 1: return walk_all_one_hot<1, true>(view);
    case 2: return view.uniform ? walk_all_one_hot<2, true>(view) : walk_all_one_hot<2, false>(view);
    case 3: return view.uniform ? walk_all_one_hot<3, true>(view) : walk_all_one_hot<3, false>(view);
    case 4: return view.uniform ? walk_all_one_hot<4, true>(view) : walk_all_one_hot<4, false>(view);
    default:
      for (unsigned first = 0; first < lanes; first += width)
        view.uniform ? walk_gathered<true>(view, first) : walk_gathered<false>(view, first);
  }
}

}  // namespace
}  // namespace emplace::batch
