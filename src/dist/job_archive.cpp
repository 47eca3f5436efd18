#include "dist/job_archive.hpp"

#include "dist/archive.hpp"

namespace boost::serialization {

// Boost.Serialization supports std::optional only since version 1.84.
template <class Archive, class T>
void serialize(Archive& archive, std::optional<T>& value, unsigned) {
  bool there = value.has_value();
  archive& there;
  if constexpr (Archive::is_loading::value) {
    value.reset();
    if (there) value.emplace();
  }
  if (there) archive&* value;
}

template <class Archive>
void serialize(Archive& archive, emplace::Placement& placement, unsigned) {
  archive& placement.device& placement.order;
}

template <class Archive>
void serialize(Archive& archive, emplace::Outcome& outcome, unsigned) {
  archive& outcome.makespan& outcome.overflow& outcome.why& outcome.device& outcome.subject;
}

template <class Archive>
void serialize(Archive& archive, emplace::search::PlacerStep& step, unsigned) {
  archive& step.method& step.seconds& step.evaluations& step.outcome& step.gained& step.is_new_best;
}

template <class Archive>
void serialize(Archive& archive, emplace::search::PlacerResult& result, unsigned) {
  archive& result.placement& result.outcome& result.evaluations& result.proved_optimal& result.lower_bound;
  archive& result.bound_by& result.note& result.steps;
}

template <class Archive>
void serialize(Archive& archive, emplace::dist::SentJob& sent, unsigned) {
  archive& sent.index& sent.job.method& sent.job.options& sent.job.seed& sent.job.evaluations;
  archive& sent.seconds& sent.start;
}

template <class Archive>
void serialize(Archive& archive, emplace::dist::SentAnswer& sent, unsigned) {
  archive& sent.index& sent.result;
}

template <class Archive>
void serialize(Archive& archive, emplace::search::Polished& polished, unsigned) {
  archive& polished.placement& polished.outcome;
}

template <class Archive>
void serialize(Archive& archive, emplace::dist::SentPolish& sent, unsigned) {
  emplace::search::PolishJob& job = sent.job;
  archive& sent.index& job.problem& job.start& job.unit_of_op& job.finer_of_op& job.seed& job.evaluations;
}

template <class Archive>
void serialize(Archive& archive, emplace::dist::SentPolished& sent, unsigned) {
  archive& sent.index& sent.result.on_units& sent.result.best& sent.result.evaluations;
}

}  // namespace boost::serialization

namespace emplace::dist {

std::vector<std::byte> pack(const SentJob& job) { return packed(job); }
std::vector<std::byte> pack(const SentAnswer& answer) { return packed(answer); }
std::vector<std::byte> pack(const SentPolish& job) { return packed(job); }
std::vector<std::byte> pack(const SentPolished& answer) { return packed(answer); }
SentJob unpack_job(std::span<const std::byte> message) { return unpacked<SentJob>(message); }
SentAnswer unpack_answer(std::span<const std::byte> message) { return unpacked<SentAnswer>(message); }
SentPolish unpack_polish(std::span<const std::byte> message) { return unpacked<SentPolish>(message); }
SentPolished unpack_polished(std::span<const std::byte> message) { return unpacked<SentPolished>(message); }

}  // namespace emplace::dist
