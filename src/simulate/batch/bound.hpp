// Upper bounds of the peaks of memory (R5), `wide` lanes at a time, in the order of the walk instead of the order of
// time. In the walk, every buffer is held at least as long as in the simulated step:
// - An output is held from its op's start, a copy from its request; both until the last consumer on the device has
//   ended.
// - A device requests a copy at the earliest when the producer ends. In the walk the device's clock may already be
//   later, so the copy should have been counted for earlier ops. Its bytes are therefore added to the highest level of
//   each stretch that was not over at the request.
// - An original that no op on its device needs any more is freed some ops later, when all that its device had sent by
//   then has arrived.
// Sizes are rounded up to whole counts of a unit. Times are rounded to floats. This keeps their order, but makes some
// times equal; of equal times, memory is held as if the free were the later one. So if the bound is within a device's
// memory, the peak is too.
#pragma once

#include "simulate/batch/narrow.hpp"
#include "simulate/batch/view.hpp"
#include "simulate/batch/walk.hpp"

namespace emplace::simulate::batch {
namespace {

// The lanes whose bit is set for any device, in one word or two.
inline std::uint16_t lanes_of(const std::uint64_t* words, unsigned count) {
  std::uint64_t all_devices = words[0];
  for (unsigned w = 1; w < count; ++w) all_devices |= words[w];
  all_devices |= all_devices >> 32;
  return static_cast<std::uint16_t>(all_devices | all_devices >> 16);
}

// Finds for every tensor to which devices it is sent and after which consumer it is freed, for all lanes at once.
template <unsigned Words>
void find_uses(const View& view) {
  const BoundView& bound = *view.bound;
  const std::uint32_t* code = bound.tensor_code;
  const std::uint32_t* const end = code + bound.tensor_code_size;
  const auto where = [&view](std::uint32_t op, unsigned w) {
    return load_word(view.where + (std::size_t{op} * Words + w) * 8);
  };
  while (code != end) {
    const std::size_t tensor = code[0];
    const std::uint32_t consumers = code[2];
    std::uint64_t here[Words], used[Words] = {}, sent[Words], last[Words];
    for (unsigned w = 0; w < Words; ++w) here[w] = where(code[1], w);
    code += 3;
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

constexpr unsigned ops_between_settlements = 8;

template <unsigned D>
struct Levels {
  Counts level[D];
  Floats clock[D];           // end of the device's last op
  Counts leaving[D];         // bytes of originals to free: recent ones, ...
  Counts leaving_before[D];  // ... and earlier ones, which are freed when clock passes until_before
  Floats until_before[D];
  Floats until;  // end of all transfers requested so far, from any device
};

template <unsigned D>
[[gnu::always_inline]] inline void settle(Levels<D>& now) {
  each<D>([&](auto d) {
    constexpr unsigned i = d.value;
    const Lanes sent = less(now.until_before[i], now.clock[i]);
    now.level[i] = minus_in(sent, now.level[i], now.leaving_before[i]);
    now.leaving_before[i] = choose(sent, now.leaving[i], now.leaving_before[i]);
    now.until_before[i] = choose(sent, now.until, now.until_before[i]);
    now.leaving[i] = choose(sent, counts(0), now.leaving[i]);
  });
}

// Adds copies of `size`, requested at `end`, to the peaks of those earlier stretches that were not over at that time.
template <unsigned D>
void look_back(const View& view, unsigned first, std::size_t stretch, const std::uint8_t* sent, Floats end,
               Counts size) {
  const BoundView& bound = *view.bound;
  for (bool more = true; more && stretch-- > 0;) {
    std::int32_t* const highest = bound.highest + stretch * D * lanes + first;
    const float* const clock = bound.clock + stretch * D * lanes + first;
    more = false;
    each<D>([&](auto d) {
      constexpr unsigned i = d.value;
      const Lanes to = lanes_at(sent + 2 * i, first);
      const Lanes late = at_most_in(to, end, load(clock + (D + i) * lanes));
      store(highest + i * lanes, add_in(late, load(highest + i * lanes), size));
      more |= any(at_most_in(to, end, load(clock + i * lanes)));
    });
  }
}

template <unsigned D>
void bound_stretch(const View& view, unsigned first, std::size_t stretch) {
  const BoundView& bound = *view.bound;
  const Stretch& begin = view.stretches[stretch];
  const Stretch& end_of_stretch = view.stretches[stretch + 1];
  const std::int32_t* size = bound.sizes + begin.sizes;
  const std::uint32_t* code = bound.op_code + begin.op_code;
  const std::uint8_t* const where = view.where + first / 8;
  const std::uint8_t* sent = bound.sent + begin.tensor * words_of(D) * 8 + first / 8;
  const auto* all_away = reinterpret_cast<const std::uint8_t*>(bound.all_away + begin.tensor) + first / 8;
  const auto* last = reinterpret_cast<const std::uint8_t*>(bound.last + begin.numbered_input) + first / 8;
  const auto* last_sent = reinterpret_cast<const std::uint8_t*>(bound.last_sent + begin.numbered_input) + first / 8;
  const float* ends = bound.end + first;
  const float* untils = bound.until + first;
  Levels<D>& kept = static_cast<Levels<D>*>(bound.state)[first / wide];
  Levels<D> now = kept;  // in registers
  Counts highest[D];
  float* const clock = bound.clock + stretch * D * lanes + first;
  BoundView::Late* late = bound.late;
  Floats latest = now.clock[0];  // latest end of any device's last op when the stretch began
  each<D>([&](auto d) {
    highest[d.value] = now.level[d.value];
    latest = larger(latest, now.clock[d.value]);
    store(clock + d.value * lanes, now.clock[d.value]);
  });
  for (std::size_t op = begin.op; op < end_of_stretch.op; ++op, ends += lanes) {
    const std::uint8_t* const here_word = where + std::size_t{code[0]} * words_of(D) * 8;
    std::uint32_t input_pairs = code[1];
    std::uint32_t tensors = code[2];
    code += 3;
    const Floats end = load(ends);
    const Counts held = counts(size[0]);
    Counts let_go = counts(size[1]);  // freed at the end of the op, on the op's device
    Counts leaving = counts(0);       // freed on the op's device once it is sent
    size += 2;
    do {
      each<2>([&](auto i) {
        let_go = add_in(lanes_at(last + 2 * i.value, first), let_go, counts(size[i.value]));
        leaving = add_in(lanes_at(last_sent + 2 * i.value, first), leaving, counts(size[i.value]));
      });
      size += 2;
      last += 4;
      last_sent += 4;
    } while (--input_pairs != 0);
    const bool may_look_back = any(at_most(end, latest));
    for (; tensors != 0; --tensors, ++size, all_away += 2, untils += lanes, sent += words_of(D) * 8) {
      const Counts copy = counts(*size);
      now.until = larger(now.until, load(untils));
      leaving = add_in(lanes_at(all_away, first), leaving, copy);
      each<D>([&](auto d) {
        constexpr unsigned i = d.value;
        const Lanes to = lanes_at(sent + 2 * i, first);
        now.level[i] = add_in(to, now.level[i], copy);
        highest[i] = add_in(at_most_in(to, end, now.clock[i]), highest[i], copy);
      });
      *late = {ends, sent, *size};
      late += may_look_back;
    }
    each<D>([&](auto d) {
      constexpr unsigned i = d.value;
      const Lanes here = lanes_at(here_word + 2 * i, first);
      now.level[i] = add_in(here, now.level[i], held);
      highest[i] = larger(highest[i], now.level[i]);
      now.level[i] = minus_in(here, now.level[i], let_go);
      now.leaving[i] = add_in(here, now.leaving[i], leaving);
      now.clock[i] = choose(here, end, now.clock[i]);
    });
    if ((op + 1) % ops_between_settlements == 0) settle(now);
  }
  each<D>([&](auto d) { store(bound.highest + (stretch * D + d.value) * lanes + first, highest[d.value]); });
  kept = now;
  for (const BoundView::Late* l = bound.late; l != late; ++l)
    look_back<D>(view, first, stretch, l->sent, load(l->end), counts(l->size));
}

template <unsigned D>
void begin_bound(const View& view) {
  const BoundView& bound = *view.bound;
  find_uses<words_of(D)>(view);
  for (unsigned first = 0; first < lanes; first += wide) {
    Levels<D>& now = static_cast<Levels<D>*>(bound.state)[first / wide];
    now = Levels<D>{};
    if (!bound.resident) continue;
    for (std::size_t op = 0; op < view.ops; ++op)
      each<D>([&](auto d) {
        const Lanes here = lanes_at(view.where + op * words_of(D) * 8 + first / 8 + std::size_t{2} * d.value, first);
        now.level[d.value] = add_in(here, now.level[d.value], counts(bound.resident[op]));
      });
  }
}

template <unsigned D>
void end_bound(const View& view) {
  for (unsigned i = 0; i < D * lanes; i += wide) {
    Counts peak = counts(0);
    for (std::size_t s = 0; s < view.stretch_count; ++s)
      peak = larger(peak, load(view.bound->highest + s * D * lanes + i));
    store(view.bound->peak + i, peak);
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
}  // namespace emplace::simulate::batch
