#include "base/name_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <string>

namespace emplace::name_table_test {
namespace {

TEST(NameTable, FindsExactlyTheNamesThatWereAddedWhereTheyWereAddedFirst) {
  EXPECT_TRUE(rc::check("as a map does", [](std::vector<std::string> names, std::size_t room) {
    NameTable table;
    table.reserve(room % 10'000);
    const auto name_at = [&](std::uint32_t i) -> std::string_view { return names[i]; };
    std::map<std::string, std::uint32_t> expected;
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      RC_ASSERT(!table.find(names[i], name_at).has_value() || expected.contains(names[i]));
      const auto [at, is_new] = expected.emplace(names[i], i);
      RC_ASSERT(table.add(names[i], i, name_at) == (is_new ? std::nullopt : std::optional(at->second)));
    }
    for (const auto& [name, position] : expected) RC_ASSERT(table.find(name, name_at) == position);
    RC_ASSERT(!table.find("a name that no generator makes up", name_at).has_value());
  }));
}

TEST(NameTable, HoldsMoreNamesThanItHadRoomFor) {
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back("layer/" + std::to_string(i));
  const auto name_at = [&](std::uint32_t i) -> std::string_view { return names[i]; };
  NameTable table;
  for (std::uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(table.add(names[i], i, name_at), std::nullopt);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(table.find(names[i], name_at), i);
    ASSERT_EQ(table.add(names[i], 0, name_at), i) << "the first position stays";
  }
}

}  // namespace
}  // namespace emplace::name_table_test
