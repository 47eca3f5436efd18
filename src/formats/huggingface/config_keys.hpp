// The keys of a config.json that a family's rules read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/json/members.hpp"

namespace emplace::formats {

class ConfigKeys {
 public:
  ConfigKeys(json::Value object, const json::Place& place) : object_(object), place_(place) {}

  [[nodiscard]] bool has(std::string_view key) const { return find_member(object_, place_, key).has_value(); }
  // From 0 to 2^31; InputError for other values. `whole` is nothing, and `need` an InputError, if the key is missing or
  // null.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view key) const;
  [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t fallback) const {
    return whole(key).value_or(fallback);
  }
  [[nodiscard]] std::int64_t need(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key, bool fallback) const;
  [[nodiscard]] std::string text(std::string_view key, const std::string& fallback) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;  // empty if the key is missing
  [[nodiscard]] std::vector<std::int64_t> wholes(std::string_view key) const;
  [[nodiscard]] std::optional<json::Value> find(std::string_view key) const {
    return find_member(object_, place_, key);
  }
  [[nodiscard]] const json::Place& place() const { return place_; }
  [[nodiscard]] std::string where(std::string_view key) const { return json::Place(place_, key).str(); }

 private:
  json::Value object_;
  const json::Place& place_;
};

}  // namespace emplace::formats
