// The machine folder repeats names of the graph folder, which it may not include; this test checks that they are equal.
#include <gtest/gtest.h>

#include "emplace/machine/machine.hpp"
#include "emplace/problem/problem.hpp"
#include "graph/ops/op_table.hpp"

namespace emplace::cost::names_test {
namespace {

TEST(Names, MachineFilesMayNameExactlyTheOpClasses) {
  std::vector<std::string> classes;
  for (const OpClass cls : op_classes()) classes.emplace_back(name_of(cls));
  const auto known = machine::machine_op_classes();
  EXPECT_EQ(classes, std::vector<std::string>(known.begin(), known.end()));
}

TEST(Names, MachineFilesMayNameExactlyTheNumberTypes) {
  std::vector<std::string> types;
  for (int t = 0; t <= static_cast<int>(DType::c128); ++t) {
    const DType type = static_cast<DType>(t);
    if (type != DType::unknown && type != DType::text) types.emplace_back(name_of(type));
  }
  const auto known = machine::machine_dtypes();
  EXPECT_EQ(types, std::vector<std::string>(known.begin(), known.end()));
}

}  // namespace
}  // namespace emplace::cost::names_test
