// Draws from a table of independent categorical distributions.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/base/random.hpp"
#include "policy/common/categorical_table.hpp"

namespace emplace::policy {

// Inverse CDFs on 32 random bits a unit; a probability is off by 2^-32 at most.
class TableDraw {
 public:
  explicit TableDraw(const CategoricalTable& table);

  // A device for each of the table's units. One draw of the stream a unit, in their order.
  void operator()(Stream& stream, std::vector<std::uint8_t>& devices);

 private:
  std::size_t units_, devices_;
  std::vector<std::uint64_t> threshold_;  // D x U
  std::vector<std::uint32_t> bits_;
};

}  // namespace emplace::policy
