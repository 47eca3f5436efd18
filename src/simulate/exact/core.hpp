// A core simulates one placed Run under one schedule: it computes every op's start, every send and the makespan.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

class Core {
 public:
  virtual ~Core() = default;
  // `order` is empty under fifo. Fills send_start only if `record`.
  virtual void simulate(Run& run, const std::vector<std::uint32_t>& order, bool record) = 0;
};

std::unique_ptr<Core> make_fifo_core(const Layout& layout);
std::unique_ptr<Core> make_priority_core(const Layout& layout);
std::unique_ptr<Core> make_in_order_core(const Layout& layout);

}  // namespace emplace::simulate
