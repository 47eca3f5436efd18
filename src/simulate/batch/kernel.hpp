// The walk of the batch engine, `width` lanes at a time: in-order as PlainInOrder (exact/in_order.cpp), but with
// selections by mask instead of look-ups. Times are doubles below 2^53, so sums and maxima are exact. Included by one
// file per instruction set.
#pragma once

#include "simulate/batch/bound.hpp"
#include "simulate/batch/lanes.hpp"
#include "simulate/batch/lines.hpp"
#include "simulate/batch/pack.hpp"
#include "simulate/batch/view.hpp"
#include "simulate/batch/walk.hpp"

namespace emplace::simulate::batch {
namespace {

// In each lane the element of `values` whose mask is set; exactly one must be.
template <unsigned N>
[[gnu::always_inline]] inline Vector choose_one(const Mask* masks, const Vector* values) {
  Vector chosen = values[0];
  each<N>([&](auto d) {
    if constexpr (d.value > 0) chosen = choose(masks[d.value], values[d.value], chosen);
  });
  return chosen;
}

// The walk for few devices: free times of devices and of pairs of devices are kept in registers.
template <unsigned D, bool Uniform, bool Record>
void walk_one_hot(const View& view, unsigned first, const Stretch& begin, const Stretch& end_of_stretch) {
  const std::uint32_t* code = view.code + begin.code;
  const std::uint32_t* const end_of_code = view.code + end_of_stretch.code;
  const double* op_time = view.op_time + begin.op * D;
  const std::size_t columns = Uniform ? 1 : view.columns;
  const double* transfer = view.transfer + begin.tensor * columns;
  double* const ready = view.ready + first;
  const std::uint8_t* const where = view.where + first / 8;
  // The op's word, or the part of it for one device.
  const auto word_of = [where](std::uint32_t op) { return load_word(where + std::size_t{op} * 8); };
  const auto mask_on = [where, first](std::uint32_t op, unsigned d) {
    return mask_at(where + std::size_t{op} * 8 + std::size_t{2} * d, first);
  };

  float* record_end = Record ? view.bound->end + first : nullptr;
  float* record_until = Record ? view.bound->until + first : nullptr;

  Vector free[D], pair[D][D];
  each<D>([&](auto i) {
    free[i.value] = load(view.device_free + i.value * lanes + first);
    each<D>([&](auto j) { pair[i.value][j.value] = load(view.pair_free + (i.value * D + j.value) * lanes + first); });
  });
  while (code != end_of_code) {
    const std::uint64_t here_word = word_of(code[0]);
    Mask here[D];
    Vector times[D];
    each<D>([&](auto d) {
      here[d.value] = mask_on(code[0], d.value);
      times[d.value] = all(op_time[d.value]);
    });
    op_time += D;
    const Vector start = larger(choose_one<D>(here, free), load(ready + code[1]));
    const Vector end = add(start, choose_one<D>(here, times));
    if constexpr (Record) {
      store(record_end, end);
      record_end += lanes;
    }
    each<D>([&](auto d) { free[d.value] = choose(here[d.value], end, free[d.value]); });

    std::uint32_t tensors = code[2];
    for (code += 3; tensors != 0; --tensors) {
      std::uint32_t consumer_pairs = *code++;
      std::uint64_t destinations = word_of(code[0]) | word_of(code[consumer_size]);
      for (std::uint32_t c = 1; c < consumer_pairs; ++c)
        destinations |= word_of(code[2 * c * consumer_size]) | word_of(code[(2 * c + 1) * consumer_size]);
      destinations &= ~here_word;
      Vector arrival[D];
      each<D>([&](auto j) {
        // `line` is the free time of the pair (here, j), then the end of the transfer. It is not used where j is
        // `here`.
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
        line = choose(mask_of(destinations >> (16 * j.value), first), add(larger(line, end), lasts), line);
        each<D>([&](auto i) {
          if constexpr (i.value != j.value)
            if (Uniform || view.contended[i.value * D + j.value])
              pair[i.value][j.value] = choose(here[i.value], line, pair[i.value][j.value]);
        });
        arrival[j.value] = choose(here[j.value], end, line);
      });
      transfer += columns;
      if constexpr (Record) {
        Vector until = arrival[0];
        each<D>([&](auto d) { until = larger(until, arrival[d.value]); });
        store(record_until, until);
        record_until += lanes;
      }
      do {
        for (unsigned c = 0; c < 2; ++c, code += consumer_size) {
          Mask there[D];
          each<D>([&](auto d) { there[d.value] = mask_on(code[0], d.value); });
          put(ready, code, choose_one<D>(there, arrival));
        }
      } while (--consumer_pairs != 0);
    }
  }
  each<D>([&](auto i) {
    store(view.device_free + i.value * lanes + first, free[i.value]);
    each<D>([&](auto j) { store(view.pair_free + (i.value * D + j.value) * lanes + first, pair[i.value][j.value]); });
  });
}

// The walk for more devices: free times of pairs are in memory, [lane][pair]; those of devices are in registers (Few:
// up to 8 devices) or in memory, [lane][device].
template <bool Few, bool Uniform, bool Record>
void walk_gathered(const View& view, unsigned first, const Stretch& begin, const Stretch& end_of_stretch) {
  const std::uint32_t* code = view.code + begin.code;
  const std::uint32_t* const end_of_code = view.code + end_of_stretch.code;
  const unsigned devices = view.devices;
  const double* op_time = view.op_time + begin.op * devices;
  const std::size_t columns = Uniform ? 1 : view.columns;
  const double* transfer = view.transfer + begin.tensor * columns;
  double* const ready = view.ready + first;
  double* const device_free = view.device_free + first * devices;
  double* const pair_free = view.pair_free + first * devices * devices;
  const std::uint8_t* const device = view.device + first;
  const auto device_of = [device](std::uint32_t op) { return devices_of(device + std::size_t{op} * lanes); };
  float* record_end = Record ? view.bound->end + first : nullptr;
  float* record_until = Record ? view.bound->until + first : nullptr;
  const Index lane_devices = times(lane_numbers(), devices);
  const Index lane_pairs = times(lane_devices, devices);

  constexpr unsigned few = Few ? 8 : 0;
  Vector free[8];
  each<few>([&](auto d) { free[d.value] = load(view.device_free + d.value * lanes + first); });
  while (code != end_of_code) {
    const Index here = device_of(code[0]);
    const Vector inputs = load(ready + code[1]);
    Vector end;
    if constexpr (Few) {
      Mask masks[8];
      each<8>([&](auto d) { masks[d.value] = equal(here, every(d.value)); });
      end = add(larger(choose_one<8>(masks, free), inputs), look_up(op_time, here));
      each<8>([&](auto d) { free[d.value] = choose(masks[d.value], end, free[d.value]); });
    } else {
      const Places at(plus(lane_devices, here));
      end = add(larger(gather(device_free, at), inputs), gather(op_time, Places(here)));
      scatter(device_free, at, end);
    }
    if constexpr (Record) {
      store(record_end, end);
      record_end += lanes;
    }
    op_time += devices;
    const Index row = plus(lane_pairs, times(here, devices));

    std::uint32_t tensors = code[2];
    for (code += 3; tensors != 0; --tensors, transfer += columns) {
      Vector until = end;
      // A copy that has already been sent arrives when its pair of devices is free again.
      Index sent_to = no_set();
      for (std::uint32_t consumers = *code++; consumers != 0; --consumers, code += consumer_size) {
        const Index there = device_of(code[0]);
        const Places at(plus(row, there));
        const Vector line = gather(pair_free, at);
        const Mask sent = contains(sent_to, there);
        sent_to = with(sent_to, there);
        Vector arrival;
        if constexpr (Uniform) {
          arrival = choose(sent, line, add(larger(line, end), all(transfer[0])));
          scatter(pair_free, at, arrival);
        } else {
          const Places pair(plus(times(here, devices), there));
          const Mask contended = as_mask(gather(view.contended, pair));
          const Vector lasts = gather(transfer, Places(gather(view.column, pair)));
          arrival = choose(both(sent, contended), line, add(larger(line, end), lasts));
          scatter(pair_free, at, choose(contended, arrival, all(0)));
        }
        arrival = choose(equal(here, there), end, arrival);
        if constexpr (Record) until = larger(until, arrival);
        put(ready, code, arrival);
      }
      if constexpr (Record) {
        store(record_until, until);
        record_until += lanes;
      }
    }
  }
  each<few>([&](auto d) { store(view.device_free + d.value * lanes + first, free[d.value]); });
}

using Walk = void (*)(const View&, unsigned first, const Stretch& begin, const Stretch& end);

template <bool Uniform, bool Record>
Walk walk_for(unsigned devices) {
  switch (devices) {
    case 1: return walk_one_hot<1, true, Record>;
    case 2: return walk_one_hot<2, Uniform, Record>;
    case 3: return walk_one_hot<3, Uniform, Record>;
    case 4: return walk_one_hot<4, Uniform, Record>;
    default: return devices <= 8 ? walk_gathered<true, Uniform, Record> : walk_gathered<false, Uniform, false>;
  }
}

template <bool Record>
Walk walk_for(const View& view) {
  if (view.shared_lines) return lines_for<Record>(view.devices);
  return (view.uniform ? walk_for<true, Record> : walk_for<false, Record>)(view.devices);
}

void run(const View& view) {
  pack(view);
  const unsigned devices = view.devices < 8 ? 8 : view.devices;
  __builtin_memset(view.device_free, 0, devices * lanes * sizeof(double));
  __builtin_memset(view.pair_free, 0, (std::size_t{view.devices} * view.devices + 2) * lanes * sizeof(double));
  const Walk walk = view.bound ? walk_for<true>(view) : walk_for<false>(view);
  const Bounding bounding = view.bound ? bounding_for(view.devices) : Bounding{};
  if (view.bound) bounding.begin(view);
  for (std::size_t s = 0; s < view.stretch_count; ++s) {
    for (unsigned first = 0; first < lanes; first += width) walk(view, first, view.stretches[s], view.stretches[s + 1]);
    for (unsigned first = 0; view.bound && first < lanes; first += wide) bounding.stretch(view, first, s);
  }
  if (view.bound) bounding.end(view);
  // The end of each device's last op: [device][lane], or [lane][device].
  for (unsigned lane = 0; lane < lanes; ++lane) {
    double last = 0;
    for (unsigned d = 0; d < view.devices; ++d) {
      const double end =
          view.device_free[view.devices <= 8 || view.shared_lines ? d * lanes + lane : lane * view.devices + d];
      last = end > last ? end : last;
    }
    view.makespan[lane] = last;
  }
}

}  // namespace
}  // namespace emplace::simulate::batch
