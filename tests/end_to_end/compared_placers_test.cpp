// The placers that a training is compared with after it: what is shown while they run.
#include <gmock/gmock.h>

#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::compared_placers_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ComparedPlacers, ShowTheirProgressOffATerminalWhenTheyTakeLong) {
  const TemporaryFolder folder;
  std::string more;  // on any machine more than the two seconds that are passed over in silence
  for (int i = 0; i < 9; ++i) more += ", \"random\"";
  const Finished done = emplace_run({"train", "post", "problem=zoo:nmt?layers=2&training=true@k40x2",
                                     "evaluations=8000", "post.samples_per_update=2000", "post.window=4000",
                                     "post.ppo_steps=1", "compare=[\"heft\"" + more + "]", "run=" + (folder / "run")});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, Not(HasSubstr("comparing with heft"))) << "it takes a moment";
  EXPECT_THAT(done.err, HasSubstr("%  comparing with random ("));
  EXPECT_THAT(done.err, HasSubstr(" of 10)  best "));
}

}  // namespace
}  // namespace emplace::test::compared_placers_test
