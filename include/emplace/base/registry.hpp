// Plug-ins are entries of one explicit list a folder: name, summary, paper, options, factory. `emplace list`, --help,
// the conformance tests and the benchmark rows all walk that list. No static registration.
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

// What every kind of entry shares; a folder's entry type derives from it and adds its factory.
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

// The entry called `name`; an InputError names the nearest right one. `kind` is "policy", "placer", ...
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
