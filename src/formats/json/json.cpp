#include "formats/json/json.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats::json {

std::string Place::str() const {
  std::string text;
  append_to(text);
  return text;
}

void Place::append_to(std::string& text) const {
  if (parent_ == nullptr) {
    text += name_;
    return;
  }
  parent_->append_to(text);
  const bool is_first = parent_->parent_ == nullptr;
  if (is_first) text += ": ";
  if (index_ != no_index) {
    text.append("[").append(fmt::format_int(index_).c_str()).append("]");
    return;
  }
  const bool plain = !name_.empty() && name_.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
  if (plain)
    text.append(is_first ? "" : ".").append(name_);
  else
    text.append("[").append(quote(name_)).append("]");
}

Value Document::root() const { return {*this, 0}; }

std::string Value::describe() const {
  switch (kind()) {
    case Kind::null: return "null";
    case Kind::boolean: return node().whole != 0 ? "true" : "false";
    case Kind::whole: return fmt::format("{}", node().whole);
    case Kind::real: return fmt::format("{}", node().real);
    case Kind::text: return "the text " + quote(raw_text());
    case Kind::array: return "an array";
    case Kind::object: return "an object";
  }
  return {};
}

std::string_view Value::text(const Place& place) const {
  if (kind() != Kind::text) throw InputError(place.str(), "must be a text, got {}", describe());
  return raw_text();
}

bool Value::boolean(const Place& place) const {
  if (kind() != Kind::boolean) throw InputError(place.str(), "must be true or false, got {}", describe());
  return node().whole != 0;
}

double Value::number(const Place& place) const {
  if (kind() == Kind::real) return node().real;
  if (kind() != Kind::whole) throw InputError(place.str(), "must be a number, got {}", describe());
  return static_cast<double>(node().whole);
}

std::int64_t Value::whole(const Place& place, std::int64_t least, std::int64_t most) const {
  // A real beyond the range of whole numbers is reported as out of range, not as "not whole".
  const bool huge = kind() == Kind::real && (node().real < -0x1p53 || node().real > 0x1p53);
  if (kind() != Kind::whole && !huge) throw InputError(place.str(), "must be a whole number, got {}", describe());
  if (huge || node().whole < least || node().whole > most)
    throw InputError(place.str(), "must be from {} to {}, got {}", least, most, describe());
  return node().whole;
}

std::size_t Value::array_size(const Place& place) const {
  if (kind() != Kind::array) throw InputError(place.str(), "must be an array, got {}", describe());
  return node().count;
}

std::size_t Value::object_size(const Place& place) const {
  if (kind() != Kind::object) throw InputError(place.str(), "must be an object, got {}", describe());
  return node().count;
}

Fields::Fields(Value object, const Place& place, std::span<const std::string> known) : place_(place) {
  members_.reserve(known.size());
  object.each_member(place, [&](std::string_view key, Value value) {
    for (const std::string& name : known)
      if (name == key) {
        members_.emplace_back(key, value);
        return;
      }
    const std::string near = did_you_mean(key, known);
    throw InputError(place_.str(), "unknown key {}{}", quote(key),
                     near.empty() ? "; there are: " + join(known, ", ") : near);
  });
}

const Value* Fields::find(std::string_view key) const {
  for (const auto& [name, value] : members_)
    if (name == key) return &value;
  return nullptr;
}

const Value& Fields::need(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) throw InputError(place_.str(), "the key '{}' is missing", key);
  return *value;
}

std::string Fields::text_or_empty(std::string_view key) const {
  const Value* value = find(key);
  return value == nullptr ? std::string() : std::string(value->text(place(key)));
}

}  // namespace emplace::formats::json
