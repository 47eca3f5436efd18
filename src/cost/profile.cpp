#include "cost/profile.hpp"

#include "base/files.hpp"
#include "cost/profile_forms.hpp"
#include "cost/trace_events.hpp"
#include "emplace/base/error.hpp"
#include "formats/proto/cursor.hpp"

namespace emplace::cost {

namespace {

// A field of a message: its tag and length, then its value.
bool enter_message(std::string_view& bytes) {
  if (bytes.empty() || bytes.front() != '\x0a') return false;
  bytes.remove_prefix(1);
  for (int digits = 0; digits < 10 && !bytes.empty(); ++digits) {
    const bool last = (bytes.front() & 0x80) == 0;
    bytes.remove_prefix(1);
    if (last) return true;
  }
  return false;
}

// All of TensorFlow's files begin with the field 1 of field 1 of ...; StepStats have the name of a device at the third
// level, RunMetadata one below. A plane of XSpace begins with its number or its name.
bool parse_binary(std::string_view text, Profile& profile) {
  std::string_view rest = text;
  int depth = 0;
  while (depth < 4 && enter_message(rest)) ++depth;
  if (rest.empty() || depth == 0) return false;
  const bool device = rest.front() == '/';
  if (depth == 1 && (rest.front() == '\x08' || rest.front() == '\x12'))
    parse_xspace(*formats::open_binary_proto(profile.file, text), profile);
  else if (device && (depth == 2 || depth == 3))
    parse_step_stats(*formats::open_binary_proto(profile.file, text), depth == 3, profile);
  else
    return false;
  return true;
}

// Whether the text begins with a message of this field: "step_stats {".
bool begins_with_field(std::string_view text, std::string_view field) {
  if (!text.starts_with(field)) return false;
  const std::size_t after = text.find_first_not_of(" \t\r\n", field.size());
  return after != text.npos && (text[after] == '{' || text[after] == ':' || text[after] == '<');
}

bool parse_text_proto(std::string_view text, Profile& profile) {
  const bool metadata = begins_with_field(text, "step_stats");
  if (metadata || begins_with_field(text, "dev_stats"))
    parse_step_stats(*formats::open_text_proto(profile.file, text), metadata, profile);
  else if (begins_with_field(text, "planes"))
    parse_xspace(*formats::open_text_proto(profile.file, text), profile);
  else
    return false;
  return true;
}

// Both PyTorch and TensorFlow write objects with "traceEvents": the first event of a known category decides.
void parse_trace(std::string_view text, Profile& profile) {
  void (*parse)(std::string_view, Profile&) = nullptr;
  for_each_event(text, profile.file, [&](TraceEvent&& event, const std::string&) {
    if (event.category == "cpu_op" || event.category == "user_annotation") parse = parse_pytorch_trace;
    if (event.category == "Op") parse = parse_tensorflow_timeline;
    return parse == nullptr;
  });
  if (parse == nullptr)
    throw InputError(profile.file,
                     "the trace has no ops of PyTorch (category cpu_op) and none of TensorFlow's timeline (Op)");
  parse(text, profile);
}

}  // namespace

Profile parse_profile(const std::string& text, const std::string& file) {
  Profile profile;
  profile.file = file;
  std::string_view content = text;
  if (content.starts_with("\x1f\x8b")) throw InputError(file, "is compressed; unpack it first (gunzip)");
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);  // spreadsheets write a byte order mark
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw InputError(file, "the profile is empty");
  const std::string_view begin = content.substr(first);
  if (!parse_binary(content, profile) && !parse_text_proto(begin, profile)) {
    if (begin.front() == '[')
      parse_onnxruntime_profile(content, profile);
    else if (begin.front() == '{')
      parse_trace(content, profile);
    else if (begin.front() == '<')
      parse_openvino_graph(content, profile);
    else if (begin.starts_with("layerName;"))
      parse_openvino_counters(begin, profile);
    else
      parse_profile_table(content, profile);
  }
  if (profile.rows.empty()) throw InputError(file, "the profile has no measured op");
  return profile;
}

Profile read_profile(const std::string& file) {
  constexpr std::uint64_t largest = std::uint64_t{256} << 20;
  return parse_profile(read_file(file, largest), file);
}

}  // namespace emplace::cost
