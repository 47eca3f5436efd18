#include "formats/huggingface/config_keys.hpp"

namespace emplace::formats {

std::optional<std::int64_t> ConfigKeys::whole(std::string_view key) const {
  const auto value = find(key);
  if (!value) return std::nullopt;
  return value->whole(json::Place(place_, key), 0, std::int64_t{1} << 31);
}

std::int64_t ConfigKeys::need(std::string_view key) const {
  return need_member(object_, place_, key).whole(json::Place(place_, key), 0, std::int64_t{1} << 31);
}

bool ConfigKeys::flag(std::string_view key, bool fallback) const {
  const auto value = find(key);
  return value ? value->boolean(json::Place(place_, key)) : fallback;
}

std::string ConfigKeys::text(std::string_view key, const std::string& fallback) const {
  const auto value = find(key);
  return value ? std::string(value->text(json::Place(place_, key))) : fallback;
}

std::vector<std::string> ConfigKeys::texts(std::string_view key) const {
  std::vector<std::string> texts;
  if (const auto value = find(key)) {
    const json::Place list(place_, key);
    value->each_element(list,
                        [&](std::size_t i, json::Value text) { texts.emplace_back(text.text(json::Place(list, i))); });
  }
  return texts;
}

std::vector<std::int64_t> ConfigKeys::wholes(std::string_view key) const {
  std::vector<std::int64_t> wholes;
  if (const auto value = find(key)) {
    const json::Place list(place_, key);
    value->each_element(list, [&](std::size_t i, json::Value number) {
      wholes.push_back(number.whole(json::Place(list, i), 0, std::int64_t{1} << 31));
    });
  }
  return wholes;
}

}  // namespace emplace::formats
