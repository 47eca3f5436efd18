// The walk of the batch engine if several routes of one device wait for the same line, up to most_on_lines devices.
#pragma once

#include "simulate/batch/lanes.hpp"
#include "simulate/batch/view.hpp"
#include "simulate/batch/walk.hpp"

namespace emplace::simulate::batch {
namespace {

// Free times of lines and of devices are in memory, [line][lane] and [device][lane].
template <unsigned D, bool Record>
void walk_lines(const View& view, unsigned first, const Stretch& begin, const Stretch& end_of_stretch) {
  const std::uint32_t* code = view.code + begin.code;
  const std::uint32_t* const end_of_code = view.code + end_of_stretch.code;
  constexpr std::size_t word_bytes = std::size_t{words_of(D)} * 8;
  const double* op_time = view.op_time + begin.op * D;
  const double* transfer = view.transfer + begin.tensor * view.columns;
  double* const ready = view.ready + first;
  double* const device_free = view.device_free + first;
  double* const line_free = view.pair_free + first;
  const std::uint8_t* const where = view.where + first / 8;
  const auto mask_on = [where, first](std::uint32_t op, unsigned d) {
    return mask_at(where + op * word_bytes + std::size_t{2} * d, first);
  };
  float* record_end = Record ? view.bound->end + first : nullptr;
  float* record_until = Record ? view.bound->until + first : nullptr;

  Mask here[D];
  Vector arrival[D];
  while (code != end_of_code) {
    Vector start = load(ready + code[1]);
    Vector lasts = all(0);
    each<D>([&](auto n) {
      constexpr unsigned d = n.value;
      here[d] = mask_on(code[0], d);
      start = choose(here[d], larger(start, load(device_free + d * lanes)), start);
      lasts = choose(here[d], all(op_time[d]), lasts);
    });
    const Vector end = add(start, lasts);
    each<D>([&](auto d) {
      double* const free = device_free + d.value * lanes;
      store(free, choose(here[d.value], end, load(free)));
    });
    if constexpr (Record) {
      store(record_end, end);
      record_end += lanes;
    }
    op_time += D;

    std::uint32_t tensors = code[2];
    for (code += 3; tensors != 0; --tensors, transfer += view.columns) {
      const std::uint32_t consumers = *code++;
      Vector until = end;
      // In the order of destinations (R3).
      each<D>([&](auto m) {
        constexpr unsigned j = m.value;
        Mask to = no_lanes();
        for (std::uint32_t c = 0; c < consumers; ++c) to = either(to, mask_on(code[c * consumer_size], j));
        to = without(to, here[j]);
        Vector free = all(0);
        lasts = all(0);
        each<D>([&](auto n) {
          constexpr std::size_t pair = n.value * D + j;
          if constexpr (n.value != j) {
            lasts = choose(here[n.value], all(transfer[view.column[pair]]), lasts);
            free = choose(here[n.value], load(line_free + view.line[pair]), free);
          }
        });
        const Vector last = add(larger(free, end), lasts);
        each<D>([&](auto n) {
          constexpr std::size_t pair = n.value * D + j;
          if constexpr (n.value != j)
            store(line_free + view.line_after[pair],
                  choose(both(here[n.value], to), last, load(line_free + view.line[pair])));
        });
        if constexpr (Record) until = choose(to, larger(until, last), until);
        arrival[j] = choose(here[j], end, last);
      });
      if constexpr (Record) {
        store(record_until, until);
        record_until += lanes;
      }
      for (std::uint32_t c = 0; c < consumers; ++c, code += consumer_size) {
        Vector there = arrival[0];
        each<D>([&](auto d) {
          if constexpr (d.value > 0) there = choose(mask_on(code[0], d.value), arrival[d.value], there);
        });
        put(ready, code, there);
      }
    }
  }
}

template <bool Record>
auto lines_for(unsigned devices) {
  constexpr decltype(&walk_lines<2, Record>) of[most_on_lines - 1] = {walk_lines<2, Record>, walk_lines<3, Record>,
                                                                      walk_lines<4, Record>, walk_lines<5, Record>,
                                                                      walk_lines<6, Record>};
  return of[devices - 2];  // two routes share a line, so there are at least two devices
}

}  // namespace
}  // namespace emplace::simulate::batch
