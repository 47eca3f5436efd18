#include "emplace/base/registry.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace emplace {

void throw_unknown_entry(std::string_view name, std::span<const std::string> names, std::string_view kind,
                         std::string_view place) {
  const std::string near = did_you_mean(name, names);
  throw InputError(place, "unknown {} {}{}", kind, quote(name),
                   near.empty() ? fmt::format("; there are: {}", join(names, ", ")) : near);
}

void check_new_entry(std::string_view name, std::span<const std::string> names, std::string_view kind) {
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool well_formed = !name.empty() && is_word(name.front()) && is_word(name.back());
  for (std::size_t i = 0; well_formed && i < name.size(); ++i)
    well_formed = is_word(name[i]) || (name[i] == '-' && name[i - 1] != '-');
  if (!well_formed)
    throw InputError("", "a {} cannot be called {}; names are lower-case letters and digits, with '-' between words",
                     kind, quote(name));
  if (std::ranges::find(names, name) != names.end())
    throw InputError("", "there is already a {} called {}", kind, quote(name));
}

}  // namespace emplace
