#include "policy/gdp/blocks.hpp"

#include <limits>
#include <numeric>

#include "policy/common/categorical_draw.hpp"
#include "policy/common/unit_levels.hpp"

namespace emplace::policy {

namespace {

// blocks x columns from blocks x D: what no device stands for is forbidden.
std::vector<std::uint8_t> with_columns(const std::vector<std::uint8_t>& allowed, std::size_t devices,
                                       std::size_t columns) {
  std::vector<std::uint8_t> wide(allowed.size() / devices * columns, 0);
  for (std::size_t i = 0; i < allowed.size(); ++i) wide[i / devices * columns + i % devices] = allowed[i];
  return wide;
}

}  // namespace

std::vector<GdpBlocks> gdp_blocks(const PolicyProblem& problem, std::size_t coarsest, std::size_t columns) {
  std::vector<GdpBlocks> list;
  for (const Grouping& grouping : halved_levels(problem, coarsest)) {
    GdpBlocks& blocks = list.emplace_back();
    blocks.count = grouping.count();
    blocks.allowed = with_columns(allowed_devices(grouping), problem.problem->device_count(), columns);
    blocks.block_of_unit = unit_of_level(problem.grouping, grouping);
  }
  return list;
}

void decide_by_block(const GdpBlocks& blocks, const nn::Matrix<float>& probability,
                     std::span<const std::uint8_t> allowed, std::span<const double> uniform,
                     std::span<std::uint8_t> decision) {
  const std::size_t choices = probability.columns;
  // Starts above 0: one unit's probability may be 1 on a device where another unit cannot run.
  std::vector<double> of_block(blocks.count * choices, std::numeric_limits<double>::min());
  for (std::size_t v = 0; v < probability.rows; ++v)
    for (std::size_t c = 0; c < choices; ++c)
      of_block[blocks.block_of_unit[v] * choices + c] += static_cast<double>(probability(v, c));
  std::vector<std::uint8_t> chosen(blocks.count);
  for (std::size_t block = 0; block < blocks.count; ++block) {
    const auto row = std::span(of_block).subspan(block * choices, choices);
    if (!allowed.empty())
      for (std::size_t c = 0; c < choices; ++c) row[c] *= allowed[block * choices + c];
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& each : row) each /= sum;
    chosen[block] = at_quantile<double>(row, uniform[block]);
  }
  for (std::size_t v = 0; v < decision.size(); ++v) decision[v] = chosen[blocks.block_of_unit[v]];
}

}  // namespace emplace::policy
