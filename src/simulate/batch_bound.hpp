// Upper bounds of the peaks of memory (R5), `width` lanes at a time, in the order of the walk instead of that of time.
// Held at least as long as in truth, in that order:
// - An output from its op's start, a copy from its request; both until the last consumer on the device has ended.
// - A device asks for a copy at the earliest when the producer ends. In the walk its clock may then be ahead already,
// so
//   that ops before had the copy beside them: its bytes are added to the highest level of each stretch not over by
//   then.
// - An original that nobody on its device needs any more is let go some ops later, when all that its device had sent by
//   then has arrived.
// So if the bound is within a device's memory, so is the peak.
#pragma once

#include "batch_lanes.hpp"
#include "batch_view.hpp"
#include "batch_walk.hpp"

namespace emplace::batch {
namespace {

// The lanes of a word, or of two, whatever the device.
inline std::uint16_t lanes_of(const std::uint64_t* words, unsigned count) {
  std::uint64_t all_devices = words[0];
  for (unsigned w = 1; w < count; ++w) all_devices |= words[w];
  all_devices |= all_devices >> 32;
  return static_cast<std::uint16_t>(all_devices | all_devices >> 16);
}

// For every tensor where it is sent and where it is let go, all lanes at once.
template <unsigned Words>
void find_uses(const View& view) {
  const BoundView& bound = *view.bound;
  const std::uint32_t* code = bound.tensor_code;
  const std::uint32_t* const end = code + bound.tensor_code_size;
  const auto where = [&view](std::uint32_t op, unsigned w) {
    return load_word(view.where + (std::size_t{op} * Words + w) * 8);
  };
  for (std::size_t tensor = 0; code != end; ++tensor) {
    std::uint64_t here[Words], used[Words] = {}, sent[Words], last[Words];
    for (unsigned w = 0; w < Words; ++w) here[w] = where(code[0], w);
    const std::uint32_t consumers = code[1];
    code += 2;
    for (std::uint32_t c = 0; c < consumers; ++c)
      for (unsigned w = 0; w < Words; ++w) used[w] |= where(code[2 * c], w);
    for (unsigned w = 0; w < Words; ++w) {
      sent[w] = used[w] & ~here[w];
      last[w] = here[w] & ~used[w];
      store_word(bound.sent + (tensor * Words + w) * 8, sent[w]);
    }
    bound.all_away[tensor] = lanes_of(last, Words);
    if (consumers > 1) {
      const std::uint16_t sent_lanes = lanes_of(sent, Words);
      std::uint64_t later[Words] = {};
      for (std::uint32_t c = 0; c < consumers; ++c) {
        std::uint64_t of_original[Words];
        for (unsigned w = 0; w < Words; ++w) {
          const std::uint64_t there = where(code[2 * c], w);
          last[w] = there & ~later[w];
          later[w] |= there;
          of_original[w] = last[w] & here[w];
        }
        const std::uint16_t waiting = lanes_of(of_original, Words) & sent_lanes;
        bound.last[code[2 * c + 1]] = static_cast<std::uint16_t>(lanes_of(last, Words) & ~waiting);
        bound.last_sent[code[2 * c + 1]] = waiting;
      }
    }
    code += std::size_t{2} * consumers;
  }
}

constexpr unsigned ops_between_settlements = 16;

template <unsigned D>
struct Levels {
  Vector level[D];
  Vector clock[D];           // end of the device's last op
  Vector until[D];           // when all is sent that it has sent so far
  Vector leaving[D];         // bytes of originals to let go: those of late, ...
  Vector leaving_before[D];  // ... and those of before, that wait for
  Vector until_before[D];
};

template <unsigned D>
[[gnu::always_inline]] inline void settle(Levels<D>& now) {
  each<D>([&](auto d) {
    constexpr unsigned i = d.value;
    const Mask sent = at_most(now.until_before[i], now.clock[i]);
    now.level[i] = choose(sent, minus(now.level[i], now.leaving_before[i]), now.level[i]);
    now.leaving_before[i] = choose(sent, now.leaving[i], now.leaving_before[i]);
    now.until_before[i] = choose(sent, now.until[i], now.until_before[i]);
    now.leaving[i] = choose(sent, all(0), now.leaving[i]);
  });
}

// Copies of `bytes`, requested at `end`: also in the stretches before the one at hand that were not over by then.
template <unsigned D>
void look_back(const View& view, unsigned first, std::size_t stretch, const std::uint8_t* sent, Vector end,
               Vector bytes) {
  const BoundView& bound = *view.bound;
  for (Mask more = every_lane(); any(more) && stretch-- > 0;) {
    double* const highest = bound.highest + stretch * D * lanes + first;
    const double* const clock = bound.clock + stretch * D * lanes + first;
    more = no_lanes();
    each<D>([&](auto d) {
      constexpr unsigned i = d.value;
      const Mask to = mask_at(sent + 2 * i, first);
      const Mask late = both(to, less(end, load(clock + (D + i) * lanes)));
      store(highest + i * lanes, choose(late, add(load(highest + i * lanes), bytes), load(highest + i * lanes)));
      more = either(more, both(to, less(end, load(clock + i * lanes))));
    });
  }
}

template <unsigned D>
void bound_stretch(const View& view, unsigned first, std::size_t stretch) {
  const BoundView& bound = *view.bound;
  const Stretch& begin = view.stretches[stretch];
  const Stretch& end_of_stretch = view.stretches[stretch + 1];
  const double* bytes = bound.bytes + begin.bytes;
  const std::uint32_t* code = bound.op_code + begin.op_code;
  const std::uint8_t* const where = view.where + first / 8;
  const std::uint8_t* sent = bound.sent + begin.tensor * words_of(D) * 8 + first / 8;
  const auto* all_away = reinterpret_cast<const std::uint8_t*>(bound.all_away + begin.tensor) + first / 8;
  const auto* last = reinterpret_cast<const std::uint8_t*>(bound.last + begin.numbered_input) + first / 8;
  const auto* last_sent = reinterpret_cast<const std::uint8_t*>(bound.last_sent + begin.numbered_input) + first / 8;
  const double* ends = bound.end + first;
  const double* untils = bound.until + first;
  Levels<D>& kept = reinterpret_cast<Levels<D>*>(bound.state)[first / width];
  Levels<D> now = kept;  // in registers
  Vector highest[D];
  double* const clock = bound.clock + stretch * D * lanes + first;
  BoundView::Late* late = bound.late;
  each<D>([&](auto d) {
    highest[d.value] = now.level[d.value];
    store(clock + d.value * lanes, now.clock[d.value]);
  });
  for (std::size_t op = begin.op; op < end_of_stretch.op; ++op, ends += lanes) {
    const std::uint8_t* const here_word = where + std::size_t{code[0]} * words_of(D) * 8;
    std::uint32_t input_pairs = code[1];
    std::uint32_t tensors = code[2];
    code += 3;
    const Vector end = load(ends);
    const Vector held = all(bytes[0]);
    Vector let_go = all(bytes[1]);  // at once, of what is on the op's device
    Vector leaving = all(0);        // the same, when it is sent
    Vector until = end;
    bytes += 2;
    do {
      each<2>([&](auto i) {
        const Vector size = all(bytes[i.value]);
        let_go = choose(mask_at(last + 2 * i.value, first), add(let_go, size), let_go);
        leaving = choose(mask_at(last_sent + 2 * i.value, first), add(leaving, size), leaving);
      });
      bytes += 2;
      last += 4;
      last_sent += 4;
    } while (--input_pairs != 0);
    for (; tensors != 0; --tensors, ++bytes, all_away += 2, untils += lanes, sent += words_of(D) * 8) {
      const Vector size = all(*bytes);
      Mask before_stretch = no_lanes();
      until = larger(until, load(untils));
      leaving = choose(mask_at(all_away, first), add(leaving, size), leaving);
      each<D>([&](auto d) {
        constexpr unsigned i = d.value;
        const Mask to = mask_at(sent + 2 * i, first);
        now.level[i] = choose(to, add(now.level[i], size), now.level[i]);
        highest[i] = choose(both(to, less(end, now.clock[i])), add(highest[i], size), highest[i]);
        before_stretch = either(before_stretch, both(to, less(end, load(clock + i * lanes))));
      });
      *late = {ends, sent, *bytes};
      late += any(before_stretch);
    }
    each<D>([&](auto d) {
      constexpr unsigned i = d.value;
      const Mask here = mask_at(here_word + 2 * i, first);
      now.level[i] = choose(here, add(now.level[i], held), now.level[i]);
      highest[i] = larger(highest[i], now.level[i]);
      now.level[i] = choose(here, minus(now.level[i], let_go), now.level[i]);
      now.leaving[i] = choose(here, add(now.leaving[i], leaving), now.leaving[i]);
      now.until[i] = choose(here, larger(now.until[i], until), now.until[i]);
      now.clock[i] = choose(here, end, now.clock[i]);
    });
    if ((op + 1) % ops_between_settlements == 0) settle(now);
  }
  each<D>([&](auto d) { store(bound.highest + (stretch * D + d.value) * lanes + first, highest[d.value]); });
  kept = now;
  for (const BoundView::Late* l = bound.late; l != late; ++l)
    look_back<D>(view, first, stretch, l->sent, load(l->end), all(l->bytes));
}

template <unsigned D>
void begin_bound(const View& view) {
  const BoundView& bound = *view.bound;
  find_uses<words_of(D)>(view);
  for (unsigned first = 0; first < lanes; first += width) {
    Levels<D>& now = reinterpret_cast<Levels<D>*>(bound.state)[first / width];
    now = {};
    if (!bound.resident) continue;
    for (std::size_t op = 0; op < view.ops; ++op)
      each<D>([&](auto d) {
        const Mask here = mask_at(view.where + op * words_of(D) * 8 + first / 8 + std::size_t{2} * d.value, first);
        now.level[d.value] = choose(here, add(now.level[d.value], all(bound.resident[op])), now.level[d.value]);
      });
  }
}

template <unsigned D>
void end_bound(const View& view) {
  for (unsigned i = 0; i < D * lanes; i += width) {
    Vector peak = all(0);
    for (std::size_t s = 0; s < view.stretch_count; ++s)
      peak = larger(peak, load(view.bound->highest + s * D * lanes + i));
    store(view.peak_bound + i, peak);
  }
}

struct Bounding {
  void (*begin)(const View&);
  void (*stretch)(const View&, unsigned first, std::size_t stretch);
  void (*end)(const View&);
};
template <unsigned D>
constexpr Bounding bounding = {begin_bound<D>, bound_stretch<D>, end_bound<D>};

inline Bounding bounding_for(unsigned devices) {
  constexpr Bounding of[most_bounded] = {bounding<1>, bounding<2>, bounding<3>, bounding<4>,
                                         bounding<5>, bounding<6>, bounding<7>, bounding<8>};
  return of[devices - 1];
}

}  // namespace
}  // namespace emplace::batch
