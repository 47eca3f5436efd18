#include "cost/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/cost/damaged_text.hpp"

namespace emplace::cost::profile_test {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;

std::string error_of(const std::string& text) {
  try {
    parse_profile(text, "p");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Profile, ATableByKernelCountsItsShortestTimesInMicroseconds) {
  const Profile p =
      parse_profile("node\top\truns\tmin_us\tmedian_us\nconv\tConv\t15\t120\t130\nrelu\tRelu\t15\t0\t1\n", "p");
  EXPECT_THAT(p.devices, ElementsAre(""));
  ASSERT_EQ(p.rows.size(), 2u);
  EXPECT_EQ(p.rows[0].op, "conv");
  EXPECT_EQ(p.rows[0].type, "Conv");
  EXPECT_THAT(p.rows[0].seconds, ElementsAre(DoubleEq(120e-6)));
  EXPECT_EQ(p.rows[0].line, 2u);
  EXPECT_THAT(p.rows[1].seconds, ElementsAre(0));
  EXPECT_TRUE(std::isnan(p.run_s));
}

TEST(Profile, ATableOfOpsAndDevicesHasUnitsInItsHeaderAndGapsWhereNothingWasMeasured) {
  const Profile p =
      parse_profile("op,cpu:0,gpu:0 (ms),\"odd, name (us)\"\r\na,0.5,2,\r\n\"b,1\",,3,4\r\nc,,,\r\n\r\n", "p");
  EXPECT_THAT(p.devices, ElementsAre("cpu:0", "gpu:0", "odd, name"));
  ASSERT_EQ(p.rows.size(), 2u);
  EXPECT_EQ(p.rows[0].op, "a");
  EXPECT_THAT(p.rows[0].seconds, ElementsAre(DoubleEq(0.5), DoubleEq(2e-3), IsNan()));
  EXPECT_EQ(p.rows[1].op, "b,1");
  EXPECT_THAT(p.rows[1].seconds, ElementsAre(IsNan(), DoubleEq(3e-3), DoubleEq(4e-6)));
  EXPECT_EQ(p.rows[1].line, 3u);
}

TEST(Profile, AByteOrderMarkIsNoPartOfTheHeader) {
  const Profile p = parse_profile("\xEF\xBB\xBFnode\top\tmin_us\nconv\tConv\t7\n", "p");
  ASSERT_EQ(p.rows.size(), 1u);
  EXPECT_EQ(p.rows[0].type, "Conv");
}

TEST(Profile, TabsMakeCommasPartOfNames) {
  const Profile p = parse_profile("op\tgpu\na,b\t1e-3\n", "p");
  ASSERT_EQ(p.rows.size(), 1u);
  EXPECT_EQ(p.rows[0].op, "a,b");
}

// The events around kernels are of other categories, or fences; the first run of a session is slow.
TEST(Profile, OnnxRuntimeEventsAreKernelsByTheirNameAndTheFirstRunIsAWarmUp) {
  const Profile p = parse_profile(R"([
{"cat":"Session","pid":1,"tid":1,"dur":990,"ts":1,"ph":"X","name":"model_run","args":{}},
{"cat":"Session","dur":120,"name":"model_run","args":{}},
{"cat":"Session","dur":1,"name":"session_initialization","args":{}},
{"cat":"Node","dur":5,"name":"conv_fence_before","args":{"op_name":"Conv"}},
{"cat":"Node","dur":900,"name":"conv_kernel_time","args":{"op_name":"Conv","provider":"CPUExecutionProvider",
  "output_type_shape":[{"float":[1,64,112,112]}],"thread_scheduling_stats":{"main_thread":{"dur":1,"op_name":"no"}}}},
{"cat":"Node","dur":12.5,"name":"relu_kernel_time","args":{"op_name":"Relu","provider":"CPUExecutionProvider"}},
{"cat":"Node","dur":700,"name":"conv_kernel_time","args":{"op_name":"Conv","provider":"CPUExecutionProvider"}},
{"cat":"Node","dur":1,"name":"_kernel_time","args":{"op_name":"Conv","provider":"CUDAExecutionProvider"}}
])",
                                  "p");
  ASSERT_EQ(p.rows.size(), 2u);
  EXPECT_EQ(p.rows[0].op, "conv");
  EXPECT_EQ(p.rows[0].type, "Conv");
  EXPECT_THAT(p.rows[0].seconds, ElementsAre(DoubleEq(700e-6)));
  EXPECT_THAT(p.rows[1].seconds, ElementsAre(DoubleEq(12.5e-6)));
  EXPECT_DOUBLE_EQ(p.run_s, 120e-6);
  EXPECT_THAT(p.warnings, ElementsAre("p: 1 kernel times do not name an op"));
}

TEST(Profile, KernelsOfSeveralProvidersAreSaid) {
  const Profile p = parse_profile(R"([{"cat":"Node","dur":1,"name":"a_kernel_time","args":{"provider":"CPU"}},
{"cat":"Node","dur":1,"name":"b_kernel_time","args":{"provider":"CUDA"}}])",
                                  "p");
  EXPECT_THAT(p.warnings,
              ElementsAre(HasSubstr("several execution providers are counted as one device's: 'CPU' (1), 'CUDA' (1)")));
}

TEST(BadProfile, TablesAreRefusedByLine) {
  EXPECT_EQ(error_of(" \n"), "p: the profile is empty");
  EXPECT_EQ(error_of("op\n"),
            "p:1: a profile needs a header with the op's name and one column for each device, found 'op'");
  EXPECT_EQ(error_of("op,gpu\n"), "p: the profile has no measured op");
  EXPECT_EQ(error_of("op,gpu\na,1,2\n"), "p:2: 3 cells where the header has 2");
  EXPECT_EQ(error_of("op,gpu\na,1\nb,1\na,2\n"), "p:4: op 'a' is listed here and on line 2");
  EXPECT_EQ(error_of("op,gpu\n,1\n"), "p:2: the op's name is empty");
  EXPECT_EQ(error_of("op,gpu,gpu (ms)\n"), "p:1: the device 'gpu' has two columns");
  EXPECT_EQ(error_of("op,\na,1\n"), "p:1: a column of the header names no device");
  EXPECT_EQ(error_of("op,gpu (min)\na,1\n"), "p:1: the unit of column 'gpu (min)' must be s, ms, us or ns, got 'min'");
  EXPECT_EQ(error_of("op,gpu\n\"a,1\n"), "p:2: a double quote is opened and not closed on the line");
  EXPECT_EQ(error_of("op,gpu\n\"a\"b,1\n"), "p:2: expected a comma after a quoted field, found 'b'");
  for (const char* cell : {"-1", "fast", "nan", "inf", "1e300", "1 ms", "0x10"})
    EXPECT_EQ(error_of("op,gpu\na," + std::string(cell) + "\n"),
              "p:2: column 'gpu' must hold a time from 0 to 1e+07 s or nothing, got '" + std::string(cell) + "'");
  std::string wide = "op";
  for (int i = 0; i < 256; ++i) wide += ",d" + std::to_string(i);
  EXPECT_EQ(error_of(wide + "\n"), "p:1: more than 255 devices in the header");
}

TEST(BadProfile, JsonIsRefusedByPlace) {
  EXPECT_EQ(error_of("{\"traceEvents\": []}"),
            "p: the trace has no ops of PyTorch (category cpu_op) and none of TensorFlow's timeline (Op)");
  EXPECT_EQ(error_of("{\"events\": []}"),
            "p: a trace is an array of events, or an object that has one under \"traceEvents\"");
  EXPECT_EQ(error_of("[]"), "p: the profile has no measured op");
  EXPECT_EQ(error_of("[1]"), "p: event 0: an event is an object");
  EXPECT_EQ(error_of("[[]]"), "p: event 0: an event is an object, found an array");
  EXPECT_THAT(error_of("[{\"cat\":\"Node\",\n\"name\":"),
              ::testing::AllOf(HasSubstr("p: not a JSON file: "), HasSubstr("line 2")));
  const std::string kernel = R"([{"cat":"Node","name":"a_kernel_time")";
  for (const char* dur : {"", ",\"dur\":-1", ",\"dur\":1e300", ",\"dur\":\"7\""})
    EXPECT_EQ(error_of(kernel + dur + "}]"),
              "p: event 0: kernel 'a_kernel_time' needs \"dur\", microseconds from 0 to 1e+13");
  EXPECT_EQ(error_of("[{\"a\":" + std::string(100'000, '[')), "p: event 0: nested more than 64 deep");
}

TEST(BadProfile, DamagedFilesAreReadOrRefused) {
  const std::string table = "node\top\tmin_us\na\tConv\t12\nb\tRelu\t3\n";
  const std::string json =
      R"([{"cat":"Node","dur":7,"name":"a_kernel_time","args":{"op_name":"Conv","provider":"CPU"}},{"cat":"x"}])";
  EXPECT_TRUE(rc::check("bytes changed, cut out or doubled", [&] {
    const std::string text = damaged(*rc::gen::arbitrary<bool>() ? table : json);
    try {
      // A damaged header may make it a table of another form, with several devices.
      const Profile profile = parse_profile(text, "p");
      for (const ProfileRow& row : profile.rows) {
        RC_ASSERT(!row.op.empty());
        RC_ASSERT(row.seconds.size() == profile.devices.size());
        std::size_t measured = 0;
        for (const double seconds : row.seconds) {
          RC_ASSERT(std::isnan(seconds) || seconds >= 0);
          measured += !std::isnan(seconds);
        }
        RC_ASSERT(measured > 0);
      }
    } catch (const InputError&) {
    }
  }));
}

}  // namespace
}  // namespace emplace::cost::profile_test
