#include "search/pipeline/piece_load.hpp"

namespace emplace::search {

PieceLoad::PieceLoad(const Problem& problem, const std::vector<DeviceKind>& kinds,
                     const std::vector<std::uint32_t>& class_of_op, std::size_t classes,
                     const simulate::PipelineOptions& options)
    : kinds_(kinds.size()),
      phases_(options.separate_phases ? 2 : 1),
      overlap_(options.overlap),
      tensors_(split_tensors(problem, kinds, class_of_op)),
      routes_missing_(tensors_.routes_missing),
      class_time_(classes * kinds_ * phases_, 0),
      class_cannot_(classes * kinds_, 0),
      class_bytes_(classes, 0),
      compute_(kinds_ * phases_, 0),
      transfer_(kinds_ * phases_, 0),
      cannot_(kinds_, 0),
      cut_off_(kinds_, 0),
      consumers_inside_(tensors_.count(), 0),
      producer_inside_(tensors_.count(), 0) {
  for (std::uint32_t k = 0; k < kinds_; ++k) {
    memory_.push_back(kinds[k].memory);
    if (kinds[k].transfers.pays) paying_.push_back(k);
  }
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    const std::size_t c = class_of_op[op];
    class_bytes_[c] += problem.resident[op];
    const std::size_t phase = phases_ == 2 && problem.is_backward(OpId{op}) ? 1 : 0;
    for (std::size_t k = 0; k < kinds_; ++k) {
      const Ticks time = kinds[k].time(problem, op);
      if (time == cannot_run)
        class_cannot_[c * kinds_ + k] = 1;
      else
        class_time_[(c * kinds_ + k) * phases_ + phase] += time;
    }
  }
  std::vector<std::vector<End>> ends(classes);
  for (std::uint32_t t = 0; t < tensors_.count(); ++t) {
    ends[tensors_.producer[t]].push_back({t, true});
    for (const std::uint32_t c : tensors_.consumers[t]) ends[c].push_back({t, false});
  }
  begin_.push_back(0);
  for (const std::vector<End>& row : ends) {
    ends_.insert(ends_.end(), row.begin(), row.end());
    begin_.push_back(static_cast<std::uint32_t>(ends_.size()));
  }
}

void PieceLoad::add(std::uint32_t c) {
  bytes_ += class_bytes_[c];
  for (std::size_t k = 0; k < kinds_; ++k) cannot_[k] += static_cast<std::uint32_t>(class_cannot_[c * kinds_ + k]);
  const std::size_t columns = kinds_ * phases_;
  for (std::size_t column = 0; column < columns; ++column) compute_[column] += class_time_[c * columns + column];
  for (std::uint32_t i = begin_[c]; i < begin_[c + 1]; ++i) enter(ends_[i]);
}

void PieceLoad::remove(std::uint32_t c) {
  bytes_ -= class_bytes_[c];
  for (std::size_t k = 0; k < kinds_; ++k) cannot_[k] -= static_cast<std::uint32_t>(class_cannot_[c * kinds_ + k]);
  const std::size_t columns = kinds_ * phases_;
  for (std::size_t column = 0; column < columns; ++column) compute_[column] -= class_time_[c * columns + column];
  for (std::uint32_t i = begin_[c]; i < begin_[c + 1]; ++i) leave(ends_[i]);
}

// A tensor's transfer out is counted while its producer is in the set and a consumer is not; its transfer in is counted
// while a consumer is in the set and the producer is not.
void PieceLoad::enter(const End& end) {
  const std::uint32_t t = end.tensor;
  const std::size_t all = tensors_.consumers[t].size();
  if (end.produces) {
    producer_inside_[t] = 1;
    if (consumers_inside_[t] > 0) pay_in(t, -1);
    if (consumers_inside_[t] < all) pay_out(t, 1);
  } else {
    const std::uint32_t inside = ++consumers_inside_[t];
    if (producer_inside_[t] != 0 && inside == all) pay_out(t, -1);
    if (producer_inside_[t] == 0 && inside == 1) pay_in(t, 1);
  }
}

void PieceLoad::leave(const End& end) {
  const std::uint32_t t = end.tensor;
  const std::size_t all = tensors_.consumers[t].size();
  if (end.produces) {
    producer_inside_[t] = 0;
    if (consumers_inside_[t] > 0) pay_in(t, 1);
    if (consumers_inside_[t] < all) pay_out(t, -1);
  } else {
    const std::uint32_t inside = --consumers_inside_[t];
    if (producer_inside_[t] != 0 && inside + 1 == all) pay_out(t, 1);
    if (producer_inside_[t] == 0 && inside == 0) pay_in(t, -1);
  }
}

void PieceLoad::pay(const std::vector<Ticks>& time, const std::vector<char>& missing, std::uint32_t tensor, int sign) {
  const std::size_t phase = phases_ == 2 && tensors_.backward[tensor] != 0 ? 1 : 0;
  for (const std::uint32_t k : paying_) transfer_[k * phases_ + phase] += sign * time[tensor * kinds_ + k];
  if (!routes_missing_) return;
  for (const std::uint32_t k : paying_)
    if (missing[tensor * kinds_ + k] != 0) cut_off_[k] += static_cast<std::uint32_t>(sign);
}

}  // namespace emplace::search
