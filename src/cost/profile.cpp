#include "emplace/cost/profile.hpp"

#include "emplace/base/error.hpp"
#include "emplace/base/files.hpp"
#include "profile_forms.hpp"

namespace emplace {

Profile parse_profile(const std::string& text, const std::string& file) {
  Profile profile;
  profile.file = file;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) throw InputError(file, "the profile is empty");
  if (text[first] == '[' || text[first] == '{')
    parse_onnxruntime_profile(text, profile);
  else
    parse_profile_table(text, profile);
  if (profile.rows.empty()) throw InputError(file, "the profile has no measured op");
  return profile;
}

Profile read_profile(const std::string& file) {
  constexpr std::uint64_t largest = std::uint64_t{256} << 20;
  return parse_profile(read_file(file, largest), file);
}

}  // namespace emplace
