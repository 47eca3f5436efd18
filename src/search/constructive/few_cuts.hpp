// Splits of a sequence of units into one piece per device, with at most Problem::max_cuts tensors between pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/common/units.hpp"

namespace emplace::search {

// Sequences of all units in which units that exchange tensors are close: topological, depth-first, and, for a training
// step, each backward op beside the forward op whose results it reads. No unit need come after its producers.
std::vector<std::vector<std::uint32_t>> sequences_for_few_cuts(const Problem& problem, const Units& units);

// A dynamic program over the positions between units at which few tensors cross.
class FewCutSplitter {
 public:
  FewCutSplitter(const Problem& problem, const Units& units, std::span<const std::uint32_t> sequence);

  // The device of each unit; nothing if no split keeps to the limits. Devices get pieces in their order, or none. A
  // unit that the device of its piece cannot run goes to its fastest device; all its tensors are then counted as cut.
  using Split = std::optional<std::vector<std::uint8_t>>;
  // The split with the fewest cuts whatever the lengths of its pieces.
  [[nodiscard]] Split fewest_cuts(std::span<const std::uint8_t> devices, MemoryView view) const;
  // A split whose longest piece is at most 0.1 % longer than that of any other of these splits.
  [[nodiscard]] Split shortest(std::span<const std::uint8_t> devices, MemoryView view) const;

 private:
  struct Piece {  // sums over the units before a boundary, for one device
    Ticks time = 0;
    Bytes bytes = 0;
    std::uint64_t strangers = 0;  // tensors of units that the device cannot run
  };
  [[nodiscard]] std::vector<std::vector<Piece>> sums(std::span<const std::uint8_t> devices, MemoryView view) const;
  [[nodiscard]] Split fill(std::span<const std::uint8_t> devices, const std::vector<std::vector<Piece>>& sums,
                           Ticks limit) const;
  void choose_boundaries(const std::vector<std::uint32_t>& crossing);
  void count_fresh_cuts();

  struct Span {
    std::uint32_t first, last;  // positions of the tensor's first and last unit in the sequence
  };
  const Problem& problem_;
  const Units& units_;
  const std::vector<std::uint32_t> sequence_;
  std::vector<Span> spans_;           // of the tensors of several units
  std::vector<std::uint64_t> edges_;  // U: tensors that the unit reads or writes
  // A boundary b is before position b of the sequence; the first is 0, the last is the number of units.
  std::vector<std::uint32_t> boundaries_;
  // Row later, column earlier: tensors that cross the later boundary and not the earlier one.
  std::vector<std::uint32_t> fresh_;
};

}  // namespace emplace::search
