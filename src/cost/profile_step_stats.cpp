// Parses TensorFlow's step statistics, a RunMetadata or its StepStats: tensorflow/core/framework/step_stats.proto and
// tensorflow/core/protobuf/config.proto.
#include "base/text.hpp"
#include "cost/profile_forms.hpp"
#include "cost/tensorflow_times.hpp"
#include "emplace/base/error.hpp"
#include "formats/proto/cursor.hpp"

namespace emplace::cost {

namespace {

using formats::ProtoCursor;
using formats::ProtoField;
using enum formats::ProtoKind;

// "[mklcpu 2.0MB] Relu = _FusedConv2D(x, weights, bias)"
std::string_view type_in(std::string_view label) {
  constexpr std::string_view is = " = ";
  const std::size_t at = label.find(is);
  if (at == label.npos) return {};
  label.remove_prefix(at + is.size());
  return label.substr(0, label.find('('));
}

class StepStats {
 public:
  StepStats(ProtoCursor& in, Profile& profile) : in_(in), file_(profile.file), times_(profile) {}

  void read() {
    static constexpr ProtoField fields[] = {{1, "dev_stats", message}};
    while (in_.next(fields) != 0) in_.message([&] { read_device(); });
  }
  void finish() { times_.finish(); }

 private:
  void read_device() {
    static constexpr ProtoField fields[] = {{1, "device", text}, {2, "node_stats", message}};
    std::string device;
    while (const std::uint32_t field = in_.next(fields)) {
      if (field == 1)
        device = in_.name();
      else
        in_.message([&] { read_node(device); });
    }
  }

  // The kernel's own time, without what the executor does before and after it. Files before 2018 have microseconds.
  void read_node(const std::string& device) {
    static constexpr ProtoField fields[] = {
        {1, "node_name", text},      {3, "op_start_rel_micros", whole}, {4, "op_end_rel_micros", whole},
        {8, "timeline_label", text}, {14, "op_start_rel_nanos", whole}, {15, "op_end_rel_nanos", whole}};
    constexpr std::size_t longest_label = std::size_t{1} << 20;
    std::string node, label;
    std::int64_t start_us = 0, end_us = 0, start_ns = 0, end_ns = 0;
    while (const std::uint32_t field = in_.next(fields)) switch (field) {
        case 1: node = in_.name(); break;
        case 3: start_us = in_.whole(); break;
        case 4: end_us = in_.whole(); break;
        case 8: label = in_.text(longest_label).value_or(""); break;
        case 14: start_ns = in_.whole(); break;
        default: end_ns = in_.whole();
      }
    const double seconds = end_ns != 0 ? 1e-9 * (static_cast<double>(end_ns) - static_cast<double>(start_ns))
                                       : 1e-6 * (static_cast<double>(end_us) - static_cast<double>(start_us));
    times_.add(device, std::move(node), type_in(label), seconds, file_);
  }

  ProtoCursor& in_;
  const std::string& file_;
  TensorflowTimes times_;
};

}  // namespace

void parse_step_stats(ProtoCursor& in, bool in_run_metadata, Profile& profile) {
  StepStats stats(in, profile);
  if (in_run_metadata) {
    static constexpr ProtoField fields[] = {{1, "step_stats", message}};
    while (in.next(fields) != 0) in.message([&] { stats.read(); });
  } else {
    stats.read();
  }
  stats.finish();
}

}  // namespace emplace::cost
