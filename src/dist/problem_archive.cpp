#include "dist/problem_archive.hpp"

#include <boost/serialization/is_bitwise_serializable.hpp>
#include <boost/serialization/map.hpp>

#include "dist/archive.hpp"

namespace boost::serialization {

// An id is one integer, so vectors of ids are copied as one block.
template <class Tag>
struct is_bitwise_serializable<emplace::Id<Tag>> : mpl::true_ {};

template <class Archive>
void serialize(Archive& archive, emplace::Device& device, unsigned) {
  archive& device.name& device.kind& device.memory;
}

template <class Archive>
void serialize(Archive& archive, emplace::Channel& channel, unsigned) {
  archive& channel.name& channel.latency_s& channel.bytes_per_s& channel.contention;
}

template <class Archive>
void serialize(Archive& archive, emplace::Problem::RouteClass& route_class, unsigned) {
  archive& route_class.latency_s& route_class.bytes_per_s;
}

template <class Archive>
void serialize(Archive& archive, emplace::Problem& p, unsigned) {
  archive& p.name;
  archive& p.devices& p.channels& p.routes& p.route_class& p.route_classes& p.given_transfer_times& p.max_cuts;
  archive& p.op_names& p.op_types& p.op_time& p.zero_cost& p.resident& p.scratch& p.group& p.group_names& p.backward;
  archive& p.producer& p.tensor_bytes& p.consumers& p.transfer_time;
  archive& p.shapes.known& p.shapes.type& p.shapes.begin& p.shapes.dimensions;
  archive& p.layer.of_op& p.layer.names& p.module.of_op& p.module.names& p.expert& p.unsized;
  archive& p.inputs& p.outputs& p.topological;
}

}  // namespace boost::serialization

namespace emplace::dist {

// A new field must also be added to serialize() above; then correct this sum.
static_assert(sizeof(Problem) == sizeof(std::string) + 18 * sizeof(std::vector<int>) + 4 * sizeof(Lists) +
                                     sizeof(TensorShapes) + 2 * sizeof(OpLabels) + sizeof(std::map<int, int>) +
                                     alignof(std::vector<int>));

std::vector<std::byte> archive_problems(std::span<const Problem* const> problems, const evaluate::Scoring& scoring,
                                        const evaluate::EvaluatorChoice& evaluator) {
  std::ostringstream stream(std::ios::binary);
  {
    boost::archive::binary_oarchive archive(stream);
    const auto count = static_cast<std::uint64_t>(problems.size());
    const auto schedule = static_cast<std::uint8_t>(scoring.schedule);
    const auto objective = static_cast<std::uint8_t>(scoring.objective);
    archive << count << schedule << objective << scoring.pipeline.overlap << scoring.pipeline.separate_phases;
    archive << evaluator.name << evaluator.options;
    for (const Problem* problem : problems) archive << *problem;
  }
  return bytes_of(std::move(stream).str());
}

SharedProblems restore_problems(std::span<const std::byte> bytes) {
  std::istringstream stream(text_of(bytes), std::ios::binary);
  boost::archive::binary_iarchive archive(stream);
  std::uint64_t count = 0;
  std::uint8_t schedule = 0;
  std::uint8_t objective = 0;
  simulate::PipelineOptions pipeline;
  archive >> count >> schedule >> objective >> pipeline.overlap >> pipeline.separate_phases;
  SharedProblems shared;
  shared.scoring = {static_cast<Schedule>(schedule), static_cast<Objective>(objective), pipeline};
  archive >> shared.evaluator.name >> shared.evaluator.options;
  shared.problems.resize(count);
  for (Problem& problem : shared.problems) archive >> problem;
  return shared;
}

}  // namespace emplace::dist
