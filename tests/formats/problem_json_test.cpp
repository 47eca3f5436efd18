#include "emplace/formats/problem_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "emplace/base/error.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/problem/output_shapes.hpp"

namespace emplace::formats::problem_json_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The example of the design page.
const std::string chain = R"({ "emplace": "problem/1", "name": "two-device chain",
  "devices":  [{"name": "cpu:0", "kind": "cpu", "memory_bytes": 68719476736}, {"name": "gpu:0", "kind": "gpu", "memory_bytes": 12884901888}],
  "channels": [{"name": "h2d", "latency_s": 1e-5, "bytes_per_s": 1.2e10}, {"name": "d2h", "latency_s": 1e-5, "bytes_per_s": 1.2e10}],
  "routes":   [{"from": 0, "to": 1, "channels": [0]}, {"from": 1, "to": 0, "channels": [1]}],
  "ops":      [{"name": "a", "type": "MatMul", "seconds": [0.010, 0.001], "resident_bytes": 0, "scratch_bytes": 0, "colocate": null},
               {"name": "b", "type": "Relu",   "seconds": [0.010, null]}],
  "tensors":  [{"from": 0, "bytes": 4096, "to": [1]}] })";

Problem read(const std::string& text) { return read_problem_json(text, "chain.json"); }

std::string message_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "read without an error";
}

// The example with one piece of its text replaced; the piece must be there.
std::string with(const std::string& piece, const std::string& other) {
  std::string text = chain;
  const std::size_t at = text.find(piece);
  if (at == std::string::npos) return "the test's piece is not in the example: " + piece;
  return text.replace(at, piece.size(), other);
}

TEST(ProblemJson, ReadsTheExampleOfTheDesignPage) {
  const Problem p = read(chain);
  EXPECT_EQ(p.name, "two-device chain");
  ASSERT_EQ(p.device_count(), 2u);
  EXPECT_EQ(p.devices[1].name, "gpu:0");
  EXPECT_EQ(p.devices[1].kind, "gpu");
  EXPECT_EQ(p.devices[1].memory, 12884901888);
  ASSERT_EQ(p.channels.size(), 2u);
  EXPECT_EQ(p.channels[0].name, "h2d");
  EXPECT_TRUE(p.channels[0].contention);
  EXPECT_THAT(p.op_names, ElementsAre("a", "b"));
  EXPECT_THAT(p.op_types, ElementsAre("MatMul", "Relu"));
  // 10 ms and 1 ms in picoseconds; op b cannot run on the GPU.
  EXPECT_THAT(p.op_time, ElementsAre(10'000'000'000, 1'000'000'000, 10'000'000'000, cannot_run));
  EXPECT_THAT(p.tensor_bytes, ElementsAre(4096));
  EXPECT_THAT(p.consumers.items, ElementsAre(1));
  // 10 us + 4096 / 1.2e10 s = 10 us + 341333.33 ps.
  EXPECT_EQ(p.transfer(TensorId{0}, DeviceId{1}, DeviceId{0}), 10'341'333);
}

TEST(ProblemJson, KeysMayStandInAnyOrderAndOptionalOnesMayBeLeftOut) {
  const Problem p = read(R"({"tensors": [], "ops": [{"seconds": [1], "name": "a"}],
                            "devices": [{"memory_bytes": null, "name": "d"}], "emplace": "problem/1"})");
  EXPECT_EQ(p.name, "");
  EXPECT_EQ(p.devices[0].kind, "");
  EXPECT_EQ(p.devices[0].memory, no_memory_limit);
  EXPECT_EQ(p.op_types[0], "");
  EXPECT_EQ(p.resident[0], 0);
  EXPECT_EQ(p.scratch[0], 0);
  EXPECT_TRUE(p.group[0].is_none());
  EXPECT_TRUE(p.channels.empty());
}

TEST(ProblemJson, AWholeNumberMayBeWrittenAsADecimal) {
  EXPECT_EQ(read(with("4096", "4096.0")).tensor_bytes[0], 4096);
  EXPECT_EQ(read(with("4096", "4.096e3")).tensor_bytes[0], 4096);
  EXPECT_EQ(read(with("4096", "40960E-1")).tensor_bytes[0], 4096);
  EXPECT_EQ(read(with("4096", "-0.0")).tensor_bytes[0], 0);
  EXPECT_EQ(read(with("[1]", "[1.0]")).consumers.items[0], 1u);
}

TEST(ProblemJson, BytesBeyondTheWholeNumbersOfADoubleAreExact) {
  // 2^53 + 1 and 10^18 + 1 are no doubles.
  const auto resident = [](const std::string& number) {
    return read(with("\"resident_bytes\": 0", "\"resident_bytes\": " + number)).resident[0];
  };
  EXPECT_EQ(resident("9007199254740993"), 9007199254740993);
  EXPECT_EQ(resident("9007199254740993.0"), 9007199254740993);
  EXPECT_EQ(resident("1000000000000000.001e3"), 1000000000000000001);
}

TEST(ProblemJson, ContentionAndColocationAreRead) {
  EXPECT_FALSE(read(with(R"("name": "h2d",)", R"("name": "h2d", "contention": false,)")).channels[0].contention);
  const Problem p = read(with(R"("colocate": null)", R"("colocate": "encoder")"));
  EXPECT_THAT(p.group_names, ElementsAre("encoder"));
  EXPECT_EQ(p.group[0].value, 0u);
}

TEST(ProblemJson, AByteOrderMarkAndEscapesAreRead) {
  const Problem p = read("\xEF\xBB\xBF" + with("two-device chain", "\\u00e9\\n\\ud83d\\ude00"));
  EXPECT_EQ(p.name, "\xC3\xA9\n\xF0\x9F\x98\x80");
}

struct Refusal {
  const char* name;
  std::string text;
  const char* message;  // a part of it
};

std::string name_of_refusal(const ::testing::TestParamInfo<Refusal>& test) { return test.param.name; }

class ProblemJsonRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(ProblemJsonRefuses, ByNameAndPlace) {
  const std::string message = message_of(GetParam().text);
  EXPECT_THAT(message, HasSubstr(GetParam().message));
  EXPECT_THAT(message, ::testing::StartsWith("chain.json: "));
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

INSTANTIATE_TEST_SUITE_P(
    Syntax, ProblemJsonRefuses,
    ::testing::Values(
        Refusal{"Empty", "", "line 1, column 1: not valid JSON"},
        Refusal{"Truncated", chain.substr(0, 200), "line 3, column 5: not valid JSON"},
        Refusal{"TrailingText", chain + " x", "line 7, column 57: not valid JSON: invalid literal"},
        Refusal{"Comment", with("\"devices\"", "// here\n\"devices\""), "line 2, column 3: not valid JSON"},
        Refusal{"TrailingComma", with("\"to\": [1]", "\"to\": [1,]"), "line 7, column 52: not valid JSON"},
        Refusal{"NotANumber", with("4096", "NaN"), "not valid JSON: invalid literal"},
        Refusal{"Infinity", with("4096", "Infinity"), "not valid JSON: invalid literal"},
        Refusal{"MinusInfinity", with("4096", "-Infinity"), "not valid JSON: invalid number"},
        Refusal{"LeadingZero", with("4096", "04096"), "not valid JSON"},
        Refusal{"OverflowingNumber", with("4096", "1e999"), "number overflow parsing '1e999'"},
        Refusal{"BadUtf8", with("two-device", "two\xFF"), "not valid JSON: invalid string: ill-formed UTF-8 byte"},
        Refusal{"LoneSurrogate", with("two-device", "\\ud800"), "not valid JSON: invalid string: surrogate"},
        Refusal{"RawNewlineInText", with("two-device", "two\n"), "not valid JSON: invalid string: control character"},
        Refusal{"Deep", nested(65), "nested deeper than 64 levels"},
        Refusal{"VeryDeep", nested(1'000'000), "nested deeper than 64 levels"},
        Refusal{"RepeatedTopKey", with("\"name\": \"two", "\"emplace\": \"problem/1\", \"name\": \"two"),
                "the key 'emplace' is given twice"},
        Refusal{"RepeatedKey", with("\"scratch_bytes\": 0", "\"resident_bytes\": 1"),
                "ops[0]: the key 'resident_bytes' is given twice"},
        Refusal{"RepeatedKeyInEscapes", with("\"scratch_bytes\": 0", "\"resident\\u005fbytes\": 1"),
                "ops[0]: the key 'resident_bytes' is given twice"}),
    name_of_refusal);

INSTANTIATE_TEST_SUITE_P(
    Shape, ProblemJsonRefuses,
    ::testing::Values(
        Refusal{"NoObject", "[1, 2]", "must be an object, got an array"},
        Refusal{"NoVersion", "{}", "the key 'emplace' with the text 'problem/1' or 'problem/2' is missing"},
        Refusal{"OtherVersion", with("problem/1", "problem/3"),
                "emplace: has format 'problem/3', this program reads 'problem/1' or 'problem/2'"},
        Refusal{"OtherKind", with("problem/1", "placement/1"),
                "emplace: must be 'problem/1' or 'problem/2', got 'placement/1'"},
        Refusal{"VersionNumber", with("\"problem/1\"", "1"), "emplace: must be a text, got 1"},
        Refusal{"UnknownTopKey", with("\"routes\"", "\"rotes\""), "unknown key 'rotes' (did you mean 'routes'?)"},
        Refusal{"UnknownKey", with("scratch_bytes", "scratch_byte"),
                "ops[0]: unknown key 'scratch_byte' (did you mean 'scratch_bytes'?)"},
        Refusal{"UnknownKeyFarFromAll", with("scratch_bytes", "q"), "ops[0]: unknown key 'q'; there are: name, type"},
        Refusal{"NoDevices", with("\"devices\"", "\"name\""), "the key 'name' is given twice"},
        Refusal{"MissingDevices", R"({"emplace": "problem/1", "ops": [], "tensors": []})",
                "the key 'devices' is missing"},
        Refusal{"MissingTensors", R"({"emplace": "problem/1", "ops": [{"name": "a", "seconds": [1]}],
                                      "devices": [{"name": "d", "memory_bytes": 1}]})",
                "the key 'tensors' is missing"},
        Refusal{"MissingSeconds", with("\"seconds\": [0.010, null]", "\"resident_bytes\": 1"),
                "ops[1]: the key 'seconds' is missing"},
        Refusal{"MissingMemory", with(", \"memory_bytes\": 12884901888", ""),
                "devices[1]: the key 'memory_bytes' is missing"},
        Refusal{"MissingLatency", with("\"latency_s\": 1e-5, ", ""), "channels[0]: the key 'latency_s' is missing"},
        Refusal{"OpsObject", with("[{\"from\": 0, \"bytes\": 4096, \"to\": [1]}]", "{}"),
                "tensors: must be an array, got an object"},
        Refusal{"OpNumber", with("{\"from\": 0, \"bytes\": 4096, \"to\": [1]}", "7"),
                "tensors[0]: must be an object, got 7"},
        Refusal{"NameNumber", with("\"name\": \"a\"", "\"name\": 7"), "ops[0].name: must be a text, got 7"},
        Refusal{"KindNull", with("\"gpu\"", "null"), "devices[1].kind: must be a text, got null"},
        Refusal{"SecondsText", with("0.010, 0.001", "0.010, \"x\""),
                "ops[0].seconds[1]: must be a number, got the text 'x'"},
        Refusal{"SecondsNumber", with("[0.010, 0.001]", "0.010"), "ops[0].seconds: must be an array, got 0.01"},
        Refusal{"ContentionNumber", with(R"("name": "h2d",)", R"("name": "h2d", "contention": 0,)"),
                "channels[0].contention: must be true or false, got 0"},
        Refusal{"ColocateNumber", with("\"colocate\": null", "\"colocate\": 1"),
                "ops[0].colocate: must be a text, got 1"}),
    name_of_refusal);

INSTANTIATE_TEST_SUITE_P(
    Values, ProblemJsonRefuses,
    ::testing::Values(
        Refusal{"EmptyOpName", with("\"name\": \"a\"", "\"name\": \"\""), "ops[0]: the op has an empty name"},
        Refusal{"RepeatedOpName", with("\"name\": \"b\"", "\"name\": \"a\""), "ops[1]: the op name 'a' is used twice"},
        Refusal{"EmptyDeviceName", with("\"cpu:0\"", "\"\""), "devices[0]: the device has an empty name"},
        Refusal{"RepeatedDeviceName", with("\"cpu:0\"", "\"gpu:0\""), "devices[1]: the device name 'gpu:0' is used"},
        Refusal{"EmptyChannelName", with("\"h2d\"", "\"\""), "channels[0]: the channel has an empty name"},
        Refusal{"RepeatedChannelName", with("\"h2d\"", "\"d2h\""), "channels[1]: the channel name 'd2h' is used twice"},
        Refusal{"EmptyGroupName", with("\"colocate\": null", "\"colocate\": \"\""),
                "ops[0].colocate: the group has an empty name"},
        Refusal{"NoOps", R"({"emplace": "problem/1", "ops": [], "tensors": [],
                             "devices": [{"name": "d", "memory_bytes": 1}]})",
                "the problem has no ops"},
        Refusal{"NoDevices", R"({"emplace": "problem/1", "ops": [], "tensors": [], "devices": []})",
                "the problem has no devices"},
        Refusal{"Cycle", with("\"to\": [1]}]", "\"to\": [1]}, {\"from\": 1, \"bytes\": 0, \"to\": [0]}]"),
                "the ops form a cycle: 'b' -> 'a' -> 'b'"},
        Refusal{"SelfLoop", with("\"to\": [1]", "\"to\": [0]"), "tensors[0]: op 'a' consumes its own tensor, a cycle"},
        Refusal{"ConsumerTwice", with("\"to\": [1]", "\"to\": [1, 1]"), "tensors[0]: op 'b' is listed twice"},
        Refusal{"UnknownConsumer", with("\"to\": [1]", "\"to\": [2]"), "tensors[0]: the tensor has consumer 2"},
        Refusal{"UnknownProducer", with("\"from\": 0, \"bytes\"", "\"from\": 9, \"bytes\""),
                "tensors[0]: the tensor's producer is op 9"},
        Refusal{"NegativeProducer", with("\"from\": 0, \"bytes\"", "\"from\": -1, \"bytes\""),
                "tensors[0].from: must be from 0 to 4294967294, got -1"},
        Refusal{"HugeProducer", with("\"from\": 0, \"bytes\"", "\"from\": 4294967295, \"bytes\""),
                "tensors[0].from: must be from 0 to 4294967294"},
        Refusal{"TwoRoutes", with("\"from\": 1, \"to\": 0", "\"from\": 0, \"to\": 1"),
                "routes[1]: there are two routes from device 0 to 1"},
        Refusal{"RouteToItself", with("\"from\": 1, \"to\": 0", "\"from\": 1, \"to\": 1"),
                "routes[1]: a route must join two different devices"},
        Refusal{"RouteWithoutChannels", with("\"channels\": [1]", "\"channels\": []"),
                "routes[1]: the route from device 1 to 0 has no channels"},
        Refusal{"ChannelTwice", with("\"channels\": [1]", "\"channels\": [1, 1]"),
                "routes[1]: channel 'd2h' stands twice"},
        Refusal{"UnknownChannel", with("\"channels\": [1]", "\"channels\": [2]"),
                "routes[1]: the route names channel 2"},
        Refusal{"UnknownDevice", with("\"from\": 1, \"to\": 0", "\"from\": 2, \"to\": 0"),
                "routes[1]: the route names device 2, but there are 2 devices"},
        Refusal{"NegativeBytes", with("4096", "-1"), "tensors[0].bytes: must be from 0 to 4611686018427387904, got -1"},
        Refusal{"FractionalBytes", with("4096", "4096.5"), "tensors[0].bytes: must be a whole number, got 4096.5"},
        Refusal{"HugeBytes", with("4096", "1e300"), "tensors[0].bytes: must be from 0 to 4611686018427387904"},
        Refusal{"BytesAboveInt64", with("4096", "18446744073709551615"), "tensors[0].bytes: must be from 0 to"},
        Refusal{"BytesNull", with("4096", "null"), "tensors[0].bytes: must be a whole number, got null"},
        Refusal{"NegativeResident", with("\"resident_bytes\": 0", "\"resident_bytes\": -5"),
                "ops[0].resident_bytes: must be from 0"},
        Refusal{"FractionalScratch", with("\"scratch_bytes\": 0", "\"scratch_bytes\": 0.5"),
                "ops[0].scratch_bytes: must be a whole number, got 0.5"},
        Refusal{"NegativeMemory", with("12884901888", "-1"), "devices[1].memory_bytes: must be from 0"},
        // This number would otherwise mean "no limit".
        Refusal{"LargestMemory", with("12884901888", "9223372036854775807"), "devices[1].memory_bytes: must be from 0"},
        Refusal{"ZeroBandwidth", with("1.2e10", "0"), "channels[0]: the bandwidth of channel 'h2d' must be above zero"},
        Refusal{"NegativeBandwidth", with("1.2e10", "-1.5"), "channels[0]: the bandwidth of channel 'h2d' must be"},
        Refusal{"NegativeLatency", with("1e-5", "-1e-5"), "channels[0]: the latency of channel 'h2d' must be"},
        Refusal{"NegativeSeconds", with("0.001", "-0.001"), "ops[0]: the time of op 'a' on device 'gpu:0' must be"},
        Refusal{"HugeSeconds", with("0.001", "1e8"), "ops[0]: the time of op 'a' on device 'gpu:0' must be"},
        Refusal{"TooFewSeconds", with("0.010, 0.001", "0.010"), "ops[0]: op 'a' needs one time for each of the 2"},
        Refusal{"RunsNowhere", with("[0.010, null]", "[null, null]"), "ops[1]: no device can run op 'b'"},
        Refusal{"GroupRunsNowhere",
                R"({"emplace": "problem/1", "tensors": [],
                    "devices": [{"name": "c", "memory_bytes": 1}, {"name": "g", "memory_bytes": 1}],
                    "ops": [{"name": "a", "seconds": [1, null], "colocate": "cell"},
                            {"name": "b", "seconds": [null, 1], "colocate": "cell"}]})",
                "no device can run every op of co-location group 'cell'"},
        Refusal{"TotalBytes", with("\"resident_bytes\": 0", "\"resident_bytes\": 4611686018427387904"),
                "all bytes together (4.612e+18) exceed 2^62"},
        Refusal{"TotalTime", with("0.010, 0.001", "4611686.018, 1"), "all times together (4.612e+06 s) exceed 2^62"},
        Refusal{"SlowTransfer", with("1.2e10", "1e-12"), "tensors[0]: the tensor of op 'a' needs"}),
    name_of_refusal);

TEST(ProblemJson, AMessageShowsOnlyAShortPieceOfAHostileFile) {
  const std::string message = message_of("\"" + std::string(10'000'000, 'x'));
  EXPECT_THAT(message, HasSubstr("not valid JSON: invalid string: missing closing quote"));
  EXPECT_LT(message.size(), 300u);
  EXPECT_LT(message_of(with("scratch_bytes", std::string(1'000'000, 'x'))).size(), 400u);
}

TEST(ProblemJson, TwoHundredDevicesAreReadAndTwoHundredFiftySixAreNot) {
  const auto of_size = [](int count) {
    std::string devices;
    for (int d = 0; d < count; ++d)
      devices += (d > 0 ? ", " : "") + std::string("{\"name\": \"d") + std::to_string(d) + "\", \"memory_bytes\": 1}";
    std::string seconds = "1";
    for (int d = 1; d < count; ++d) seconds += ", 1";
    return "{\"emplace\": \"problem/1\", \"devices\": [" + devices + "], \"ops\": [{\"name\": \"a\", \"seconds\": [" +
           seconds + "]}], \"tensors\": []}";
  };
  EXPECT_EQ(read(of_size(255)).device_count(), 255u);
  EXPECT_THAT(message_of(of_size(256)), HasSubstr("devices[255]: more than 255 devices"));
}

// Version 2 of a chain of three ops: all that models say beside costs.
const std::string model_chain = R"({ "emplace": "problem/2", "name": "three ops",
  "devices": [{"name": "d0", "memory_bytes": null}, {"name": "d1", "memory_bytes": null}],
  "ops": [{"name": "a", "type": "MatMul", "seconds": [1, 2], "layer": "encoder/0", "module": "encoder/layer.0/query"},
          {"name": "b", "type": "MatMul", "seconds": [1, 2], "layer": "encoder/1", "module": "encoder/layer.0/query"},
          {"name": "c", "seconds": [0, 0]}],
  "tensors": [{"from": 0, "bytes": 24, "to": [1], "shape": [2, 3], "type": "float32"},
              {"from": 1, "bytes": 0, "to": [2], "shape": [null, 3], "type": "bfloat16"},
              {"from": 1, "bytes": 0, "to": [], "shape": null},
              {"from": 0, "bytes": 4, "to": [2], "shape": []},
              {"from": 0, "bytes": 0, "to": [2]},
              {"from": 1, "bytes": 10, "to": []}],
  "expert": {"b": "d1", "a": "d0", "c": "d1"} })";

TEST(ProblemJson, Version2HasShapesTypesLayersModulesAndTheExpertsPlacement) {
  const Problem p = read(model_chain);
  EXPECT_EQ(p.layer[0], "encoder/0");
  EXPECT_EQ(p.layer[2], "");
  EXPECT_EQ(p.module[1], "encoder/layer.0/query");
  EXPECT_EQ(p.module.names.size(), 1U);
  EXPECT_THAT(p.expert, ElementsAre(0, 1, 1));
  using Known = TensorShapes::Known;
  EXPECT_THAT(p.shapes.known, ElementsAre(Known::ranked, Known::ranked, Known::unranked, Known::ranked, Known::nothing,
                                          Known::nothing));
  EXPECT_THAT(p.shapes.type,
              ElementsAre(DType::f32, DType::bf16, DType::unknown, DType::unknown, DType::unknown, DType::unknown));
  EXPECT_THAT(p.shapes.dimensions_of(0), ElementsAre(2, 3));
  EXPECT_THAT(p.shapes.dimensions_of(1), ElementsAre(-1, 3));
}

TEST(ProblemJson, OutputsOfAnOpAreItsTensorsWithAShapeOrWithBytes) {
  const OutputShapes shapes = output_shapes(read(model_chain));
  ASSERT_EQ(shapes.output_count(0), 2U) << "not the control dependency";
  EXPECT_THAT(shapes.output(0, 0), ElementsAre(2, 3));
  EXPECT_TRUE(shapes.output(0, 1).empty()) << "a scalar";
  ASSERT_EQ(shapes.output_count(1), 3U);
  EXPECT_THAT(shapes.output(1, 0), ElementsAre(0, 3)) << "a size that is not known counts as 0";
  EXPECT_TRUE(shapes.output(1, 1).empty()) << "of unknown rank";
  EXPECT_THAT(shapes.output(1, 2), ElementsAre(3)) << "10 bytes are 3 floats, rounded up";
}

TEST(ProblemJson, Version2ReadsBackAsItWasWritten) {
  const Problem p = read(model_chain);
  const std::string text = write_problem_json(p);
  const Problem again = read(text);
  EXPECT_EQ(write_problem_json(again), text);
  EXPECT_EQ(again.expert, p.expert);
  EXPECT_EQ(again.layer.names, p.layer.names);
  EXPECT_EQ(again.module.of_op, p.module.of_op);
  EXPECT_EQ(again.shapes.known, p.shapes.known);
  EXPECT_EQ(again.shapes.type, p.shapes.type);
  EXPECT_EQ(again.shapes.dimensions, p.shapes.dimensions);
}

TEST(ProblemJson, OnlyVersion1IsReadWithAWarning) {
  std::vector<std::string> warnings;
  (void)read_problem_json(model_chain, "two.json", &warnings);
  EXPECT_TRUE(warnings.empty());
  (void)read_problem_json(chain, "one.json", &warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("one.json has the format problem/1, without shapes")));
}

TEST(ProblemJson, Version2RefusesWhatItsKeysCannotMean) {
  const auto changed = [](const std::string& piece, const std::string& other) {
    std::string text = model_chain;
    const std::size_t at = text.find(piece);
    return at == std::string::npos ? "no such piece: " + piece : message_of(text.replace(at, piece.size(), other));
  };
  EXPECT_THAT(changed("[2, 3]", "[2, -3]"), HasSubstr("tensors[0].shape[1]"));
  EXPECT_THAT(changed("[2, 3]", "[2, 1.5]"), HasSubstr("tensors[0].shape[1]"));
  EXPECT_THAT(changed("float32", "float31"), HasSubstr("unknown element type 'float31' (did you mean 'float32'?)"));
  EXPECT_THAT(changed("\"bytes\": 0, \"to\": [2]}", "\"bytes\": 0, \"to\": [2], \"type\": \"bool\"}"),
              HasSubstr("is for tensors that have a shape"));
  EXPECT_THAT(changed("encoder/layer.0/query\"}", "encoder//query\"}"), HasSubstr("a path has no empty parts"));
  EXPECT_THAT(changed("\"layer\": \"encoder/0\"", "\"layer\": null"), HasSubstr("ops[0].layer"));
  EXPECT_THAT(changed(", \"c\": \"d1\"}", "}"), HasSubstr("op 'c' has no device"));
  EXPECT_THAT(changed("\"b\": \"d1\"", "\"b\": \"d2\""), HasSubstr("no device 'd2'"));
  EXPECT_THAT(message_of(with("\"bytes\": 4096", "\"bytes\": 4096, \"shape\": [1]")), HasSubstr("unknown key 'shape'"))
      << "in version 1";
}

TEST(ProblemJson, IsHandedOverInPieces) {
  ProblemBuilder builder("long");
  builder.add_device({"gpu:0", "gpu", no_memory_limit});
  for (int i = 0; i < 100'000; ++i) builder.add_op({.name = std::to_string(i), .type = "MatMul", .seconds = {1e-3}});
  const Problem problem = builder.build("long");
  std::string text;
  std::size_t longest = 0, pieces = 0;
  write_problem_json(problem, [&](std::string_view piece) {
    text += piece;
    longest = std::max(longest, piece.size());
    ++pieces;
  });
  EXPECT_TRUE(text == write_problem_json(problem));
  EXPECT_GT(pieces, 3U);
  EXPECT_LT(longest, std::size_t{2} << 20);
}

}  // namespace
}  // namespace emplace::formats::problem_json_test
