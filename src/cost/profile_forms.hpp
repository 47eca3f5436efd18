// The parsers of profiles; each form has one function and one file.
#pragma once

#include <string_view>

#include "cost/profile.hpp"
#include "formats/proto/cursor.hpp"

namespace emplace::cost {

inline constexpr double longest_op_s = 1e7;          // about four months; keeps totals below 2^62 ps
inline constexpr std::size_t most_rows = 4'000'000;  // bounds the memory to a few times the file's 256 MiB

// `profile.file` must be set; the parsers fill in rows, devices and warnings.
void parse_profile_table(std::string_view text, Profile& profile);
void parse_onnxruntime_profile(std::string_view text, Profile& profile);
void parse_openvino_graph(std::string_view text, Profile& profile);
void parse_openvino_counters(std::string_view text, Profile& profile);
void parse_pytorch_trace(std::string_view text, Profile& profile);
void parse_tensorflow_timeline(std::string_view text, Profile& profile);
void parse_step_stats(formats::ProtoCursor& in, bool in_run_metadata, Profile& profile);
void parse_xspace(formats::ProtoCursor& in, Profile& profile);

}  // namespace emplace::cost
