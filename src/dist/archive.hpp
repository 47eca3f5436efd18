// Shared by the Boost archives of this folder: values as bytes, for messages only, never on disk.
#pragma once

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cstddef>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/problem/problem.hpp"

namespace boost::serialization {

template <class Archive>
void serialize(Archive& archive, emplace::ConfigTable& table, unsigned) {
  std::string place = table.place(), text = table.to_toml();
  archive& place& text;
  if constexpr (Archive::is_loading::value) table = emplace::ConfigTable::parse_toml(text, place);
}

template <class Archive>
void serialize(Archive& archive, emplace::Lists& lists, unsigned) {
  archive& lists.begin& lists.items;
}

}  // namespace boost::serialization

namespace emplace::dist {

inline std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
std::vector<std::byte> packed(const T& value) {
  std::ostringstream stream(std::ios::binary);
  boost::archive::binary_oarchive(stream, boost::archive::no_header) << value;
  return bytes_of(std::move(stream).str());
}

// The bytes must come from packed() of the same program: an archive is not checked.
template <class T>
T unpacked(std::span<const std::byte> message) {
  std::istringstream stream(text_of(message), std::ios::binary);
  T value;
  boost::archive::binary_iarchive(stream, boost::archive::no_header) >> value;
  return value;
}

}  // namespace emplace::dist
