// An assignment that is changed unit by unit: its cost, bytes and loads are kept up to date.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/chain.hpp"
#include "fit/relaxation.hpp"

namespace emplace::fit {

class PlanState {
 public:
  // `order`: of the ordered units. `exempt`: D, as in `loads`. All must outlive this.
  PlanState(const Chain& chain, const Space& space, std::vector<std::uint8_t> order, Aim aim,
            const std::vector<std::uint8_t>& exempt, Assignment start);

  // What is minimised: the time of a token, or the largest load; `second` decides between equals.
  struct Cost {
    Ticks first = 0, second = 0;
    friend auto operator<=>(const Cost&, const Cost&) = default;
  };
  [[nodiscard]] Cost cost() const;
  [[nodiscard]] bool has_room() const { return over_ == 0; }
  [[nodiscard]] Bytes over() const { return over_; }  // bytes above the room, over all devices
  [[nodiscard]] Bytes over(std::size_t d) const;

  [[nodiscard]] const Assignment& assignment() const { return assignment_; }
  [[nodiscard]] std::uint8_t device(std::size_t u) const { return assignment_[u]; }
  // Whether unit u alone may be moved to d.
  [[nodiscard]] bool can_move(std::size_t u, std::size_t d) const;
  void move(std::size_t u, std::size_t d);

  [[nodiscard]] const Chain& chain() const { return chain_; }
  // The ordered units before and after u; size() if there is none.
  [[nodiscard]] std::size_t ordered_before(std::size_t u) const { return ordered_before_[u]; }
  [[nodiscard]] std::size_t ordered_after(std::size_t u) const { return ordered_after_[u]; }

 private:
  [[nodiscard]] Ticks around(std::size_t u) const;
  void add_loads(std::size_t u, Ticks sign);
  void add_transfer(std::size_t u, Ticks sign);

  const Chain& chain_;
  const Space& space_;
  Aim aim_;
  const std::vector<std::uint8_t>& exempt_;
  Assignment assignment_;
  std::vector<std::size_t> position_;  // D: in the order; D if it is not in it
  std::vector<std::size_t> ordered_before_, ordered_after_;
  std::vector<Bytes> bytes_;
  std::vector<Ticks> load_;
  Ticks latency_ = 0;
  Bytes over_ = 0;
};

// Moves units from full devices, where the least time is lost for each byte. The plan may still be too large.
void make_room(PlanState& state);

// Makes room, then moves single units, layers and pairs of units while that makes the plan cheaper. Of equal units only
// the first and the last are tried. Deterministic.
void improve(PlanState& state);

}  // namespace emplace::fit
