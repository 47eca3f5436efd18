// The placers that a training is compared with after it: what a terminal shows while they run.
#include <gmock/gmock.h>

#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::compared_placers_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A terminal shows each method as soon as it begins, however little time has passed.
TEST(ComparedPlacers, AreEachShownOnATerminal) {
  const TemporaryFolder folder;
  const std::string train = std::string(EMPLACE_PROGRAM) + " train post-published problem='" + small_training +
                            "@k40x2' evaluations=200 'compare=[\"heft\", \"greedy\"]' run=" + (folder / "run");
  const Finished done = run({"script", "-qec", train, "/dev/null"});
  ASSERT_EQ(done.exit_code, 0) << done.out;
  EXPECT_THAT(done.out, AllOf(HasSubstr("  0 %  comparing with heft (1 of 2)"),
                              HasSubstr(" 50 %  comparing with greedy (2 of 2)")));
}

}  // namespace
}  // namespace emplace::test::compared_placers_test
