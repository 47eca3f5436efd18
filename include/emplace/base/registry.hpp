// Each folder keeps its plug-ins in one explicit list of entries: name, summary, paper, options, factory. `emplace
// list`, --help, the conformance tests and the benchmark rows iterate over that list. There is no static registration.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "emplace/base/text.hpp"

namespace emplace {

// The fields that every kind of entry has; a folder's entry type derives from it and adds its factory.
struct EntryInfo {
  std::string name = {};
  std::string summary = {};    // one sentence
  std::string reference = {};  // paper or source
  std::function<std::vector<OptionInfo>()> options = [] { return std::vector<OptionInfo>{}; };
};

template <class Entry>
std::vector<std::string> entry_names(std::span<const Entry> entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

// Returns the entry called `name`. Throws InputError, which suggests the most similar name, if there is none. `kind`
// ("policy", "placer", ...) and `place` are for that message.
template <class Entry>
const Entry& find_entry(std::span<const Entry> entries, std::string_view name, std::string_view kind,
                        std::string_view place = {}) {
  for (const Entry& entry : entries)
    if (entry.name == name) return entry;
  const auto names = entry_names(entries);
  const std::string near = did_you_mean(name, names);
  throw InputError(place, "unknown {} {}{}", kind, quote(name),
                   near.empty() ? fmt::format("; there are: {}", join(names, ", ")) : near);
}

}  // namespace emplace
