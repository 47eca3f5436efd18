// The load of a set of classes on a device of each kind, updated when classes are added and removed
// (docs/papers/tarnawski.md sections 2.1 and 2.3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "search/pipeline/device_kinds.hpp"
#include "search/pipeline/split_tensors.hpp"

namespace emplace::search {

class PieceLoad {
 public:
  // `class_of_op` may be any grouping of the ops into `classes`.
  PieceLoad(const Problem& problem, const std::vector<DeviceKind>& kinds, const std::vector<std::uint32_t>& class_of_op,
            std::size_t classes, const simulate::PipelineOptions& options);

  void add(std::uint32_t c);     // c must not be in the set
  void remove(std::uint32_t c);  // c must be in the set

  // The time of a class alone, both phases together; cannot_run if the kind cannot run it.
  [[nodiscard]] Ticks time(std::uint32_t c, std::size_t kind) const {
    if (class_cannot_[c * kinds_ + kind] != 0) return cannot_run;
    const std::size_t column = (c * kinds_ + kind) * phases_;
    return class_time_[column] + (phases_ == 2 ? class_time_[column + 1] : 0);
  }
  [[nodiscard]] Bytes bytes(std::uint32_t c) const { return class_bytes_[c]; }  // of a class alone
  // Whether a device of the kind can run all classes, has memory for them, and has routes to hosts for their transfers.
  [[nodiscard]] bool allowed(std::size_t kind) const { return runs(kind) && (!routes_missing_ || cut_off_[kind] == 0); }
  // The load of the set; with separate phases that of the backward phase.
  [[nodiscard]] Ticks load(std::size_t kind) const { return load_of_column(kind * phases_ + phases_ - 1); }
  // 0 without separate phases.
  [[nodiscard]] Ticks forward_load(std::size_t kind) const { return phases_ == 1 ? 0 : load_of_column(kind * 2); }
  // Whether no larger set can have allowed(kind), load(kind) <= most, forward_load(kind) <= forward_most and the sum of
  // both <= both_most.
  [[nodiscard]] bool hopeless(std::size_t kind, Ticks most, Ticks forward_most, Ticks both_most) const {
    if (!runs(kind)) return true;
    const Ticks load = compute_[kind * phases_ + phases_ - 1], forward = phases_ == 1 ? 0 : compute_[kind * 2];
    return load > most || forward > forward_most || load + forward > both_most;
  }

 private:
  // One class's part in a tensor: producer or consumer.
  struct End {
    std::uint32_t tensor;
    bool produces;
  };
  void enter(const End& end);
  void leave(const End& end);
  void pay_out(std::uint32_t tensor, int sign) { pay(tensors_.out, tensors_.no_out, tensor, sign); }
  void pay_in(std::uint32_t tensor, int sign) { pay(tensors_.in, tensors_.no_in, tensor, sign); }
  void pay(const std::vector<Ticks>& time, const std::vector<char>& missing, std::uint32_t tensor, int sign);
  [[nodiscard]] bool runs(std::size_t kind) const { return cannot_[kind] == 0 && bytes_ <= memory_[kind]; }
  [[nodiscard]] Ticks load_of_column(std::size_t column) const {
    return overlap_ ? std::max(compute_[column], transfer_[column]) : compute_[column] + transfer_[column];
  }

  const std::size_t kinds_, phases_;  // column = kind x phases + phase
  const bool overlap_;
  const SplitTensors tensors_;
  const bool routes_missing_;
  std::vector<std::uint32_t> paying_;  // kinds
  std::vector<Bytes> memory_;          // kinds
  // Data of each class.
  std::vector<Ticks> class_time_;     // C x columns
  std::vector<char> class_cannot_;    // C x kinds
  std::vector<Bytes> class_bytes_;    // C
  std::vector<End> ends_;             // rows: begin_
  std::vector<std::uint32_t> begin_;  // C + 1
  // Data of the set.
  std::vector<Ticks> compute_, transfer_;  // columns
  // One per kind: the number of classes that it cannot run, and of tensors for which it has no route.
  std::vector<std::uint32_t> cannot_, cut_off_;
  Bytes bytes_ = 0;
  std::vector<std::uint32_t> consumers_inside_;  // E
  std::vector<char> producer_inside_;            // E
};

}  // namespace emplace::search
