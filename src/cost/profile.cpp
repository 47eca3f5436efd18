#include "cost/profile.hpp"

#include "base/files.hpp"
#include "cost/profile_forms.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

Profile parse_profile(const std::string& text, const std::string& file) {
  Profile profile;
  profile.file = file;
  std::string_view content = text;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);  // spreadsheets write a byte order mark
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw InputError(file, "the profile is empty");
  if (content[first] == '[' || content[first] == '{')
    parse_onnxruntime_profile(content, profile);
  else
    parse_profile_table(content, profile);
  if (profile.rows.empty()) throw InputError(file, "the profile has no measured op");
  return profile;
}

Profile read_profile(const std::string& file) {
  constexpr std::uint64_t largest = std::uint64_t{256} << 20;
  return parse_profile(read_file(file, largest), file);
}

}  // namespace emplace::cost
