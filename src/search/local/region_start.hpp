// Where ruined regions begin: a policy over the ops of the critical path that learns while the search runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emplace/base/random.hpp"
#include "search/local/order_moves.hpp"

namespace emplace::search {

// P(i) = softmax over the path of w . x_i, with w = 0 at first and x_i what is known of op i (six numbers, see the
// source). After each region w changes by REINFORCE (Williams 1992),
//   w <- w + rate (r - p) / sqrt(p (1 - p)) (x_i - E[x]),
// with r = 1 if the region that began at op i led to a better placement, else 0, and p the running mean of r.
class RegionStart {
 public:
  // rate 0: all ops of the path are equally likely for ever.
  explicit RegionStart(double rate) : rate_(rate) {}

  // A region is drawn only on a path that is not empty.
  void set_path(std::span<const CriticalOp> path);
  // Position of an op in the path.
  std::size_t draw(Stream& random);
  // Whether the region that began at the op drawn last led to a better placement.
  void report(bool helped);

 private:
  static constexpr std::size_t facts_ = 6;
  using Facts = std::array<double, facts_>;

  void renew();

  double rate_;
  std::vector<Facts> path_;
  std::vector<double> until_;  // sums of exp(w . x) up to each op, as they were at the last renew()
  Facts weights_{}, mean_{};   // w; E[x] at the last renew()
  Facts drawn_{};              // x - E[x] of the op drawn last
  double helped_share_ = 0.02;
  std::uint32_t reports_ = 0;
};

}  // namespace emplace::search
