// The speed of a table's devices, fitted to the columns that calibrate them.
#include "experiment/tables/table_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace emplace::experiment::table_machine_test {
namespace {

class DeviceScales : public ::testing::Test {
 protected:
  void SetUp() override {
    table_.name = "t";
    table_.calibration = {{"cpu", "c"}, {"gpu", "g"}};
    table_.rows.resize(4);
    for (const char* label : {"a", "b", "c", "d"}) table_.rows[static_cast<std::size_t>(label[0] - 'a')].label = label;
    table_.rows[0].published = {{"c", {2.0}}, {"g", {1.0}}};    // cpu x 2, gpu x 4
    table_.rows[1].published = {{"c", {4.0}}, {"g", {0.125}}};  // cpu x 4, gpu x 0.5
    table_.rows[2].published = {{"c", {6.0}}, {"g", {{}}}};     // OOM has no information on speed
    runs_.assign(4, {{"cpu", {1.0, 10}}, {"gpu", {0.25, 100}}});
  }
  double time(std::size_t row, const char* kind) const { return device_scales(table_, runs_)[row].at(kind).time; }
  PublishedTable table_;
  CalibratingRuns runs_;
};

TEST_F(DeviceScales, AreOneFactorForEachKindOfDeviceInTheWholeTable) {
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_DOUBLE_EQ(time(row, "cpu"), std::cbrt(2.0 * 4 * 6));
    EXPECT_DOUBLE_EQ(time(row, "gpu"), std::sqrt(4.0 * 0.5));
  }
  table_.rows[0].published.erase("g");
  table_.rows[1].published.erase("g");
  EXPECT_THROW(device_scales(table_, runs_), InputError) << "no row has a time of the GPU";
}

TEST_F(DeviceScales, AreThoseOfTheRowIfTheTableCalibratesEachRow) {
  table_.calibrates_each_row = true;
  EXPECT_DOUBLE_EQ(time(0, "cpu"), 2);
  EXPECT_DOUBLE_EQ(time(0, "gpu"), 4);
  EXPECT_DOUBLE_EQ(time(1, "gpu"), 0.5);
  EXPECT_DOUBLE_EQ(time(2, "cpu"), 6);
  EXPECT_DOUBLE_EQ(time(2, "gpu"), std::sqrt(4.0 * 0.5)) << "the row has no time of the GPU";
  table_.rows[2].like = "b";
  EXPECT_DOUBLE_EQ(time(2, "gpu"), 0.5) << "as in the row that it is like";
  EXPECT_DOUBLE_EQ(time(2, "cpu"), 6) << "it has a time of the CPU";
}

TEST_F(DeviceScales, HaveTheMostMemoryWithWhichAllIsShortThatWas) {
  const auto memory = [&] { return device_scales(table_, runs_)[0].at("gpu").memory; };
  runs_[2]["gpu"].peak = 120;
  EXPECT_EQ(memory(), 119) << "rows a and b fit with 100";
  EXPECT_EQ(device_scales(table_, runs_)[3].at("gpu").memory, 119) << "it is one machine";
  EXPECT_EQ(device_scales(table_, runs_)[0].at("cpu").memory, std::nullopt) << "nothing is OOM there";
  table_.rows[3].published = {{"g", {{}}}};
  runs_[3]["gpu"].peak = 110;
  EXPECT_EQ(memory(), 109);
  runs_[3]["gpu"].peak = 100;
  EXPECT_EQ(memory(), std::nullopt) << "what was timed would not fit";
}

}  // namespace
}  // namespace emplace::experiment::table_machine_test
