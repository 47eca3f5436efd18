#include "policy/common/table_draw.hpp"

#include <algorithm>

namespace emplace::policy {

// The action is the number of devices whose threshold is at or below the draw. From the last device with a positive
// probability on, the thresholds are above every draw.
TableDraw::TableDraw(const CategoricalTable& table)
    : units_(table.units()), devices_(table.devices()), threshold_(units_ * devices_), bits_(units_) {
  std::vector<double> sum(units_, 0.0);
  std::vector<std::size_t> last(units_, 0);
  for (std::size_t d = 0; d < devices_; ++d)
    for (std::size_t unit = 0; unit < units_; ++unit) {
      const double p = table.probability(d)[unit];
      if (p > 0) last[unit] = d;
      sum[unit] += p;
      threshold_[d * units_ + unit] = static_cast<std::uint64_t>(std::min(sum[unit], 1.0) * 0x1p32);
    }
  for (std::size_t unit = 0; unit < units_; ++unit)
    for (std::size_t d = last[unit]; d < devices_; ++d) threshold_[d * units_ + unit] = std::uint64_t{1} << 32;
}

void TableDraw::operator()(Stream& stream, std::vector<std::uint8_t>& devices) {
  for (std::uint32_t& word : bits_) word = stream.bits32();
  // The comparisons are added up instead of branched on: random draws make the branch unpredictable.
  devices.assign(units_, 0);
  for (std::size_t d = 0; d + 1 < devices_; ++d) {
    const std::uint64_t* threshold = threshold_.data() + d * units_;
    for (std::size_t unit = 0; unit < units_; ++unit) devices[unit] += threshold[unit] <= bits_[unit];
  }
}

}  // namespace emplace::policy
