// The files in which runtimes write their profiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "cost/profile.hpp"
#include "emplace/base/error.hpp"
#include "tests/cost/damaged_text.hpp"
#include "tests/cost/protobuf_bytes.hpp"

namespace emplace::cost::profile_forms_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;

// "name seconds-in-us", one for each row.
std::vector<std::string> rows_of(const Profile& profile) {
  std::vector<std::string> rows;
  for (const ProfileRow& row : profile.rows) {
    std::string text = row.op;
    for (const double seconds : row.seconds) text += std::isnan(seconds) ? " -" : fmt::format(" {:.6g}", 1e6 * seconds);
    rows.push_back(text + (row.fused ? " fused" : ""));
  }
  return rows;
}

std::string error_of(const std::string& text) {
  try {
    parse_profile(text, "p");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// A program that was profiled for a warm-up of 100 us and two steps of 40 and 60 us. Each step calls linear twice,
// which calls addmm, and relu once on another thread.
const std::string plain_trace = R"({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#0","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":1,"tid":1,"ts":6,"dur":80},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":5,"dur":90},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":95,"dur":5},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":100,"dur":40},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":105,"dur":10},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":120,"dur":4},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":140,"dur":60},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":150,"dur":12},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":170,"dur":6},
{"ph":"i","name":"Record Window End","pid":"","tid":"","ts":300,"s":"g"}
], "traceName": "t.json"})";

TEST(OnnxRuntime, FusedKernelsAreCalledAfterAnOpAndKernelsComeInTheOrderOfExecution) {
  const auto kernel = [](const std::string& name, const char* type) {
    return R"({"cat":"Node","dur":5,"name":")" + name + R"(_kernel_time","args":{"op_name":")" + type + "\"}}";
  };
  const Profile p =
      parse_profile("[" + kernel("gemm_input_reshape", "Reshape") + "," + kernel("/fc/MatMul/MatMulAddFusion", "Gemm") +
                        "," + kernel("qk/MatMulScaleFusion/", "FusedMatMul") + "," + kernel("out", "Add") + "]",
                    "p");
  EXPECT_THAT(rows_of(p), ElementsAre("gemm_input_reshape 5", "/fc/MatMul/MatMulAddFusion 5 fused",
                                      "qk/MatMulScaleFusion/ 5 fused", "out 5"));
  EXPECT_THAT(p.rows[1].parts, ElementsAre("/fc/MatMul"));
  EXPECT_THAT(p.rows[2].parts, ElementsAre("qk"));
  EXPECT_EQ(p.rows[0].reader, 1u);
  EXPECT_EQ(p.rows[3].reader, ProfileRow::none);
  EXPECT_TRUE(p.fused_run);
}

TEST(PytorchTrace, CallsAreNamedAsTorchExportNamesThemAndTheFirstStepIsDropped) {
  const Profile p = parse_profile(plain_trace, "p");
  // Medians of (10, 12) and (4, 6), and of (40, 60).
  EXPECT_THAT(rows_of(p), ElementsAre("linear 11", "linear_1 5"));
  EXPECT_DOUBLE_EQ(p.run_s, 50e-6);
  EXPECT_TRUE(p.whole_run);
  EXPECT_FALSE(p.fused_run);
}

// torch.fx.Interpreter with a range of record_function around each node: the range has the time of its ATen calls.
// getitem, which only takes one of several results, calls none.
TEST(PytorchTrace, TheInnermostRangesAreNodes) {
  const Profile p = parse_profile(R"({"traceEvents": [
{"ph":"X","cat":"user_annotation","name":"model","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","cat":"user_annotation","name":"fc","pid":1,"tid":1,"ts":0,"dur":50},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":20},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":35,"dur":5},
{"ph":"X","cat":"user_annotation","name":"getitem","pid":1,"tid":1,"ts":60,"dur":5},
{"ph":"X","cat":"python_function","name":"nn.Module: Linear_0","pid":1,"tid":1,"ts":0,"dur":99}]})",
                                  "p");
  EXPECT_THAT(rows_of(p), ElementsAre("fc 25"));
  EXPECT_THAT(p.run_s, IsNan());
}

TEST(PytorchTrace, TracesOfGpusAndTimesThatAreNoneAreRefused) {
  const std::string op = R"({"traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1)";
  EXPECT_EQ(error_of(op + R"(,"dur":2},{"ph":"X","cat":"kernel","name":"gemm","ts":2,"dur":1}]})"),
            "p: the trace has 1 kernels of a GPU, which run apart from the ops that launch them; only traces of a CPU "
            "are read");
  for (const char* dur : {"", ",\"dur\":-1", ",\"dur\":1e300"})
    EXPECT_EQ(error_of(op + dur + "}]}"),
              "p: event 0: op 'aten::mm' needs \"ts\" and \"dur\", microseconds up to 1e+13");
  EXPECT_EQ(error_of("\x1f\x8b\x08"
                     "abc"),
            "p: is compressed; unpack it first (gunzip)");
}

TEST(TensorflowTimeline, EventsOfCategoryOpAreKernelsOnTheDeviceOfTheirProcess) {
  const Profile p = parse_profile(R"({"traceEvents": [
{"name":"process_name","ph":"M","pid":1,"args":{"name":"/job:localhost/replica:0/task:0/device:CPU:0 Compute"}},
{"name":"process_name","ph":"M","pid":2,"args":{"name":"/job:localhost/replica:0/task:0/device:CPU:0 Tensors"}},
{"name":"process_name","ph":"M","pid":3,"args":{"name":"/job:localhost/replica:0/task:0/device:CPU:1 Compute"}},
{"ph":"X","cat":"Op","name":"NoOp","pid":1,"tid":0,"ts":1,"dur":1,"args":{"name":"_SOURCE","op":"NoOp"}},
{"ph":"X","cat":"Op","name":"_Arg","pid":1,"tid":0,"ts":1,"dur":1,"args":{"name":"_arg_x_0_0","op":"_Arg"}},
{"ph":"X","cat":"Op","name":"_FusedConv2D","pid":1,"tid":0,"ts":2,"dur":30,"args":{"name":"Relu","op":"_FusedConv2D"}},
{"ph":"X","cat":"Op","name":"MatMul","pid":3,"tid":0,"ts":40,"dur":7,"args":{"name":"fc/MatMul","op":"MatMul"}}]})",
                                  "p");
  EXPECT_THAT(p.devices, ElementsAre("cpu:0", "cpu:1"));
  EXPECT_THAT(rows_of(p), ElementsAre("Relu 30 - fused", "fc/MatMul - 7"));
  EXPECT_TRUE(p.fused_run);
}

const std::string cpu = "/job:localhost/replica:0/task:0/device:CPU:0";

TEST(StepStats, KernelsHaveTheirOwnTimesInNanosecondsOrMicroseconds) {
  using namespace protobuf_bytes;
  const auto node = [](const std::string& name, std::uint64_t start_ns, std::uint64_t end_ns,
                       const std::string& label) {
    return field(
        2, field(1, name) + field(3, 0) + field(4, 999) + field(8, label) + field(14, start_ns) + field(15, end_ns));
  };
  const std::string stats =
      field(1, field(1, cpu) + node("_SOURCE", 1, 2, "_SOURCE = NoOp()") +
                   node("Relu", 1000, 41000, "[mklcpu 2.0MB] Relu = _MklNativeFusedConv2D(x, w, b)") +
                   node("_retval_0", 0, 9, "_retval_0 = _Retval(Relu)") +
                   field(2, field(1, std::string("old")) + field(3, 3) + field(4, 10))) +
      // Kernels on streams are those of the GPU; what its device has is the time of launching them.
      field(1, field(1, std::string("/device:GPU:0/stream:7")) + node("fc:MatMul", 0, 5000, "")) +
      field(1, field(1, std::string("/device:GPU:0/memcpy")) + node("edge", 0, 5000, ""));
  for (const std::string& file : {stats, field(1, stats)}) {  // StepStats, RunMetadata
    const Profile p = parse_profile(file, "p");
    EXPECT_THAT(p.devices, ElementsAre(""));
    EXPECT_THAT(rows_of(p), ElementsAre("Relu 40 fused", "old 7"));
  }
  const Profile gpu =
      parse_profile(field(1, field(1, cpu) + node("a", 0, 1000, "a = Add(x)")) +
                        field(1, field(1, std::string("/device:GPU:0/stream:all")) + node("fc:MatMul", 0, 5000, "")),
                    "p");
  EXPECT_THAT(gpu.devices, ElementsAre("cpu:0", "gpu:0"));
  EXPECT_THAT(rows_of(gpu), ElementsAre("a 1 -", "fc - 5"));
}

TEST(StepStats, AreReadAsTextToo) {
  const std::string text = R"pb(dev_stats {
                                  device: "/job:localhost/replica:0/task:0/device:CPU:0"
                                  node_stats {
                                    node_name: "conv"
                                    op_start_rel_nanos: 100
                                    op_end_rel_nanos: 3100
                                    timeline_label: "conv = Conv2D(x)"
                                  }
                                  node_stats {
                                    node_name: "conv"
                                    op_start_rel_nanos: 100
                                    op_end_rel_nanos: 2100
                                    timeline_label: "conv = Conv2D(x)"
                                  }
                                })pb";
  for (const std::string& file : {text, "step_stats {" + text + "}"}) {
    const Profile p = parse_profile(file, "p");
    EXPECT_THAT(rows_of(p), ElementsAre("conv 2"));  // the first run is dropped
    EXPECT_FALSE(p.fused_run);
  }
  EXPECT_THAT(error_of("step_stats { dev_stats { device: 7 } }"), HasSubstr("p:"));
  EXPECT_EQ(error_of("step_stats { }"), "p: the profile has no measured op");
}

// Two steps; in each, Relu runs once and a loop's body three times.
TEST(Xspace, EventsOfTheHostAreKernelsByNodeAndTypeAndAnOpThatRunsSeveralTimesInAStepHasTheSum) {
  using namespace protobuf_bytes;
  const auto event = [](std::uint64_t id, std::uint64_t us, const std::string& more = {}) {
    return field(4, field(1, id) + field(2, 5) + field(3, us * 1'000'000) + more);
  };
  const auto named = [](std::uint32_t number, std::uint64_t id, const std::string& name) {
    return field(number, field(1, id) + field(2, field(1, id) + field(2, name)));
  };
  const std::string step_number = field(4, field(1, 9) + field(4, 0));
  const std::string line = field(3, field(1, 77) + field(2, std::string("python")) +  //
                                        event(1, 500, step_number) + event(1, 100, step_number));
  const std::string executor = field(3, event(2, 90) + event(3, 80) + event(4, 1) + event(4, 1) + event(4, 1) +  //
                                            event(2, 70) + event(3, 60) + event(4, 2) + event(4, 3) + event(4, 4));
  const std::string names = named(4, 1, "train") + named(4, 2, "ExecutorState::Process") +
                            named(4, 3, "Relu:_FusedConv2D") + named(4, 4, "while/add:AddV2") + named(5, 9, "step_num");
  const std::string host = field(2, std::string("/host:CPU")) + line + executor + names;
  const std::string gpu = field(2, std::string("/device:GPU:0")) + field(3, event(1, 5));
  const Profile p = parse_profile(field(1, host) + field(1, gpu), "p");
  EXPECT_THAT(rows_of(p), ElementsAre("Relu 60 fused", "while/add 9"));
  EXPECT_DOUBLE_EQ(p.run_s, 100e-6);
  EXPECT_THAT(p.warnings, ElementsAre("p: the kernels of '/device:GPU:0' are not read, only those of the host"));
}

const std::string execution_graph = R"(<?xml version="1.0"?>
<net name="Model0" version="11"><layers>
<layer id="0" name="x" type="Input"><data execTimeMcs="not_executed" originalLayersNames="x"/></layer>
<layer id="1" name="x_abcd_acdb_conv" type="Reorder"><data execTimeMcs="67" originalLayersNames=""/></layer>
<layer id="2" name="conv" type="Convolution"><data execTimeMcs="500.5" originalLayersNames="conv,bias,relu,"/></layer>
<layer id="3" name="shape" type="Reshape"><data execTimeMcs="not_executed" originalLayersNames="shape"/></layer>
<layer id="4" name="fc" type="FullyConnected"><data execTimeMcs="31" originalLayersNames="fc"/></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
<edge from-layer="2" from-port="1" to-layer="3" to-port="0"/>
<edge from-layer="3" from-port="1" to-layer="4" to-port="0"/>
</edges></net>)";

TEST(OpenvinoGraph, KernelsListTheLayersThatTheyComputeAndWhoReadsThem) {
  const Profile p = parse_profile(execution_graph, "p");
  EXPECT_THAT(rows_of(p), ElementsAre("x_abcd_acdb_conv 67", "conv 500.5 fused", "fc 31"));
  EXPECT_THAT(p.rows[1].parts, ElementsAre("conv", "bias", "relu"));
  EXPECT_EQ(p.rows[0].reader, 1u);
  EXPECT_EQ(p.rows[1].reader, 2u);  // by way of the Reshape
  EXPECT_EQ(p.rows[2].reader, ProfileRow::none);
  EXPECT_TRUE(p.fused_run);
}

TEST(OpenvinoGraph, FilesWithoutTimesAndDamagedOnesAreRefused) {
  EXPECT_THAT(error_of("<net><layers><layer id=\"0\" name=\"x\"><data/></layer></layers></net>"),
              HasSubstr("p: is no execution graph of OpenVINO with times: no layer has execTimeMcs"));
  EXPECT_THAT(error_of("<net><layers>"), HasSubstr("p: is not valid XML, or is truncated"));
  const auto layer = [](const std::string& name, const std::string& time) {
    return "<layer id=\"0\" name=\"" + name + "\"><data execTimeMcs=\"" + time + "\"/></layer>";
  };
  const auto net = [](const std::string& layers) { return "<net><layers>" + layers + "</layers></net>"; };
  for (const char* time : {"-1", "fast", "1e300", ""})
    EXPECT_EQ(error_of(net(layer("a", time))),
              "p: layer 'a': execTimeMcs must be microseconds from 0 to 1e+13, or not_executed, got '" +
                  std::string(time) + "'");
  EXPECT_EQ(error_of(net(layer("a", "1") + layer("a", "1"))), "p: two layers are called 'a'");
  EXPECT_EQ(error_of(net(layer("", "1"))), "p: the layer at position 0 has no name");
  EXPECT_EQ(error_of(net(layer("a", "not_executed"))), "p: the profile has no measured op");
}

TEST(OpenvinoCounters, ExecutedLayersHaveTheMedianOverTheRequests) {
  const std::string head = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n";
  const Profile p = parse_profile(head +
                                      "x;Status.NOT_RUN;Parameter;unknown_f32;0.000;0.000\n"
                                      "conv/WithoutBiases;Status.EXECUTED;Convolution;brgconv;0.500;0.499\n"
                                      "fc;EXECUTED;FullyConnected;gemm;0.030;0.030\n"
                                      "Total;;;;0.530;0.530\r\n\n"
                                      "fc;EXECUTED;FullyConnected;gemm;0.020;0.030\n",
                                  "p");
  EXPECT_THAT(rows_of(p), ElementsAre("conv/WithoutBiases 500 fused", "fc 20 fused"));
  EXPECT_THAT(p.rows[0].parts, ElementsAre("conv/WithoutBiases", "conv"));
  EXPECT_EQ(error_of("layerName;execStatus\n"),
            "p:1: the header has no column realTime (ms) after layerName;execStatus");
  EXPECT_EQ(error_of(head + "fc;EXECUTED;gemm\n"), "p:2: 3 cells where the header has 6");
  EXPECT_EQ(error_of(head + "fc;EXECUTED;FullyConnected;gemm;soon;0\n"), "p:2: the time must be a number, got 'soon'");
  EXPECT_THAT(error_of(head + "fc;EXECUTED;FullyConnected;gemm;-1;0\n"),
              HasSubstr("p:2: the time of op 'fc' must be from 0"));
}

TEST(BadProfile, DamagedFilesOfEveryFormAreReadOrRefused) {
  using namespace protobuf_bytes;
  const std::vector<std::string> files = {
      plain_trace, execution_graph,
      field(1, field(1, field(1, cpu) + field(2, field(1, std::string("a")) + field(14, 1) + field(15, 9))))};
  EXPECT_TRUE(rc::check("bytes changed, cut out or doubled", [&] {
    const std::string text = damaged(files[*rc::gen::inRange<std::size_t>(0, files.size())]);
    try {
      for (const ProfileRow& row : parse_profile(text, "p").rows) RC_ASSERT(!row.op.empty());
    } catch (const InputError&) {
    }
  }));
}

}  // namespace
}  // namespace emplace::cost::profile_forms_test
