#include "deploy/device_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/utf8.hpp"

namespace emplace::deploy {

namespace {

struct KindAndNumber {
  std::string kind;
  std::int64_t number = 0;
};

KindAndNumber parse_device(const std::string& device) {
  const std::size_t colon = device.rfind(':');
  std::int64_t number = 0;
  if (colon == std::string::npos || !parse_number(std::string_view(device).substr(colon + 1), number) || number < 0)
    return {device};
  return {device.substr(0, colon), number};
}

}  // namespace

DeviceNames::DeviceNames(DeviceForms forms, std::map<std::string, std::string> renamed, std::string framework,
                         std::string_view marks)
    : forms_(std::move(forms)), renamed_(std::move(renamed)), framework_(std::move(framework)) {
  const auto fits = [&](unsigned char c) {
    return std::isalnum(c) != 0 || marks.find(static_cast<char>(c)) != marks.npos;
  };
  for (const auto& [device, name] : renamed_)
    if (!std::ranges::all_of(name, fits))
      throw InputError("--rename", "{} takes a name of letters, digits and any of {} for {}, found {}", framework_,
                       marks, quote(device), quote(name));
}

std::string DeviceNames::of(const std::string& device) const {
  if (const auto given = renamed_.find(device); given != renamed_.end()) return given->second;
  const auto [kind, number] = parse_device(device);
  const auto form = forms_.find(kind);
  const auto how = [&] { return fmt::format("name it with --rename {}=NAME", device); };
  if (form == forms_.end())
    throw InputError("--rename", "{} has no name for the device {}; {}", framework_, quote(device), how());
  if (form->second.find("{}") != std::string::npos) return fmt::format(fmt::runtime(form->second), number);
  if (number != 0)
    throw InputError("--rename", "{} has only one {}, and there is a device {}; {}", framework_, form->second,
                     quote(device), how());
  return form->second;
}

std::vector<std::string> DeviceNames::of(const std::vector<std::string>& devices) const {
  std::map<std::string, std::string> names;
  std::vector<std::string> result;
  for (const std::string& device : devices) {
    if (!device.empty() && !names.contains(device)) names[device] = of(device);
    result.push_back(device.empty() ? "" : names[device]);
  }
  return result;
}

std::map<std::string, std::string> parse_renames(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> names;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw InputError("--rename", "should be DEVICE=NAME, found {}", quote(text));
    if (std::ranges::any_of(text, [](unsigned char c) { return std::iscntrl(c) != 0; }))
      throw InputError("--rename", "a name should be one line of plain text, found {}", quote(text));
    if (!formats::is_utf8(text)) throw InputError("--rename", "a name should be UTF-8, found {}", quote(text));
    if (!names.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      throw InputError("--rename", "{} is renamed twice", quote(text.substr(0, equals)));
  }
  return names;
}

}  // namespace emplace::deploy
