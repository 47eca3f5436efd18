// Archives that are no programs of torch.export, and programs that contradict themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/pytorch/size_expression.hpp"
#include "tests/formats/model_text.hpp"
#include "tests/formats/program_json.hpp"

namespace emplace::formats::pytorch_test {
namespace {

using namespace program;
using ::testing::AllOf;
using ::testing::HasSubstr;

Program one_relu(const Json& rows = 2) {
  Program program;
  program.input("x", {rows, 3});
  program.node("torch.ops.aten.relu.default", "relu", {{"self", tensor("x")}}, {rows, 3});
  return program;
}

std::string refused(const std::string& archive, const ReadOptions& options = {}) {
  return refusal_of(archive, "m.pt2", options);
}

TEST(PytorchRefusals, ATruncatedArchiveIsDamaged) {
  const std::string archive = one_relu().archive();
  EXPECT_THAT(refused(archive.substr(0, archive.size() / 2)), HasSubstr("is no zip archive, or is damaged"));
  EXPECT_THAT(refused("no zip at all"), HasSubstr("is no zip archive, or is damaged"));
  EXPECT_THAT(refused(""), HasSubstr("is no zip archive, or is damaged"));
}

TEST(PytorchRefusals, AFileWithAWrongChecksumIsDamaged) {
  EXPECT_THAT(refused(one_relu().archive({.right_checksum = false})),
              AllOf(HasSubstr("m/models/model.json"), HasSubstr("is damaged")));
}

TEST(PytorchRefusals, AFileThatWouldUnpackToMoreThanAGibibyteIsNotRead) {
  // The directory says 3 GiB, as that of a zip bomb.
  EXPECT_THAT(refused(one_relu().archive({.stated_size = 0xC0000000U})), HasSubstr("has 3.00 GiB; at most 1.00 GiB"));
}

TEST(PytorchRefusals, AFileThatGrowsAHundredfoldIsNotUnpacked) {
  // Deflated by the directory, from some hundred bytes to 64 MiB.
  EXPECT_THAT(refused(one_relu().archive({.stated_size = 64U << 20, .method = 8})),
              HasSubstr("would become 64.00 MiB from"));
}

TEST(PytorchRefusals, AnUnknownMethodOfCompressionIsNamed) {
  EXPECT_THAT(refused(one_relu().archive({.method = 98})), HasSubstr("m/models/model.json: cannot be read"));
}

TEST(PytorchRefusals, ANameThatLeadsOutOfTheArchiveIsRefused) {
  for (const char* name : {"m/../../etc/passwd", "/etc/passwd", "..\\x"})
    EXPECT_THAT(refused(test::zip_text({{"m/models/model.json", one_relu().json().dump()}, {name, ""}})),
                AllOf(HasSubstr("leads out of it"), HasSubstr(name)));
}

TEST(PytorchRefusals, OtherZipArchivesAreSaidToBeWhatTheyAre) {
  EXPECT_THAT(refused(test::zip_text({{"m/data.pkl", ""}, {"m/data/0", "abc"}})),
              AllOf(HasSubstr("torch.save"), HasSubstr("torch.export.save")));
  EXPECT_THAT(refused(test::zip_text({{"readme", ""}})), HasSubstr("holds no program of torch.export"));
  const std::string program = one_relu().json().dump();
  EXPECT_THAT(refused(test::zip_text({{"m/models/a.json", program}, {"m/models/b.json", program}})),
              AllOf(HasSubstr("holds 2 programs"), HasSubstr("m/models/b.json")));
}

TEST(PytorchRefusals, AnotherVersionOfTheSchemaIsNamedWithTheOneThatIsRead) {
  Program program = one_relu();
  program.major = 9;
  EXPECT_THAT(refused(program.archive()), AllOf(HasSubstr("version 9 of the schema"), HasSubstr("version 8")));
  Json json = one_relu().json();
  json.erase("schema_version");
  EXPECT_THAT(refused(test::zip_text({{"m/models/model.json", json.dump()}})), HasSubstr("no schema_version"));
}

TEST(PytorchRefusals, ATensorThatNothingGivesIsNamedWithItsNode) {
  Program program = one_relu();
  program.node("torch.ops.aten.neg.default", "neg", {{"self", tensor("ghost")}}, {2, 3});
  EXPECT_THAT(refused(program.archive()), HasSubstr("node 'neg': reads 'ghost', which nothing before it gives"));
}

TEST(PytorchRefusals, ATensorWithoutSizesIsNamed) {
  Program program = one_relu();
  program.graph["tensor_values"].erase("relu");
  EXPECT_THAT(refused(program.archive()), HasSubstr("tensor_values has no 'relu'"));
}

TEST(PytorchRefusals, ANodeWithoutATargetIsRefusedByItsPlace) {
  Program program = one_relu();
  program.graph["nodes"][0].erase("target");
  EXPECT_THAT(refused(program.archive()), HasSubstr("graph_module.graph.nodes[0]: has no 'target'"));
}

TEST(PytorchRefusals, AProgramWithoutNodesComputesNothing) {
  Program program;
  program.input("x", {1});
  EXPECT_THAT(refused(program.archive()), HasSubstr("computes nothing"));
}

TEST(PytorchRefusals, SizesOfAnInputThatDoesNotExistAreRefusedWithTheNearestName) {
  EXPECT_THAT(refused(one_relu("s0").archive(), sized({{"X", {2, 3}}})), HasSubstr("the model has no input 'X'"));
}

TEST(PytorchRefusals, SizesThatContradictTheProgramAreRefused) {
  EXPECT_THAT(refused(one_relu("s0").archive(), sized({{"x", {2, 4}}})), HasSubstr("dimension 1 of input 'x' is 3"));
  Program program = one_relu("s0");
  program.input("y", {"s0", 3});
  EXPECT_THAT(refused(program.archive(), sized({{"x", {2, 3}}, {"y", {4, 3}}})),
              HasSubstr("contradict those of another input: s0 is 2 and 4"));
  program.ranges["s0"] = {{"min_val", 2}, {"max_val", 16}};
  EXPECT_THAT(refused(program.archive(), sized({{"x", {17, 3}}})),
              HasSubstr("takes sizes from 2 to 16 for s0; 17 is given"));
}

TEST(SizeExpression, IsUnknownWhereItIsNoWholeNumberOfKnownSymbols) {
  const SymbolValues symbols = {{"s0", 7}};
  const auto value = [&](const char* text) { return value_of_size(text, symbols); };
  EXPECT_EQ(value("Symbol('s0', integer=True)"), 7);
  EXPECT_EQ(value("Integer(12)"), 12);
  EXPECT_EQ(value("Pow(Symbol('s0'), Integer(2))"), 49);
  EXPECT_EQ(value("Mul(Rational(1, 2), Symbol('s0'))"), std::nullopt);
  EXPECT_EQ(value("Mul(Rational(1, 2), Add(Symbol('s0'), Integer(1)))"), 4);
  EXPECT_EQ(value("FloorDiv(Symbol('s0'), Integer(2))"), 3);
  EXPECT_EQ(value("Mod(Integer(-1), Symbol('s0'))"), 6);  // as in Python
  for (const char* bad : {"", "Symbol('s9')", "Symbol('s0'", "Mul(Symbol('s0'), ", "Unheard(Integer(1))", "Integer(-1)",
                          "FloorDiv(Integer(1), Integer(0))", "Integer(1) Integer(2)", "Pow(Integer(10), Integer(99))",
                          "Add()", "((((", "Symbol(s0)"})
    EXPECT_EQ(value(bad), std::nullopt) << bad;
  std::string deep = "Integer(1)";
  for (int i = 0; i < 100; ++i) deep = "Add(" + deep + ", Integer(1))";
  EXPECT_EQ(value_of_size(deep, symbols), std::nullopt);
}

}  // namespace
}  // namespace emplace::formats::pytorch_test
