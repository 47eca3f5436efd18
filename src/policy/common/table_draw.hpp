// Draws from a table of independent categorical distributions.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/base/random.hpp"
#include "policy/common/categorical_table.hpp"

namespace emplace::policy {

// Inverse CDFs with 32 random bits for each unit; the error of a probability is at most 2^-32.
class TableDraw {
 public:
  explicit TableDraw(const CategoricalTable& table);

  // Draws a device for each of the table's units, with one draw of the stream for each unit, in order.
  void operator()(Stream& stream, std::vector<std::uint8_t>& devices);

 private:
  std::size_t units_, devices_;
  std::vector<std::uint64_t> threshold_;  // D x U
  std::vector<std::uint32_t> bits_;
};

}  // namespace emplace::policy
