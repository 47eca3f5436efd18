// Files whose weights are far larger than the memory that reading them may take. They are written sparse: only the
// graph's bytes are on the disk.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/formats/model_text.hpp"
#include "tests/formats/proto_bytes.hpp"

namespace emplace::formats::large_files_test {
namespace {

using ::testing::HasSubstr;
using namespace proto;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

// The start of a field that holds `size` bytes.
std::string head_of_field(int number, std::int64_t size) { return varint(number << 3 | 2) + varint(size); }

struct SparseFile {
  std::string before, after;  // `hole` bytes lie between them
  std::int64_t hole = 0;

  void write(const std::string& path) const {
    std::ofstream out(path, std::ios::binary);
    out << before;
    out.seekp(hole, std::ios::cur);
    out << after;
  }
};

// An ONNX model of one Relu and a float weight of `size` bytes of raw data.
SparseFile onnx_with_weight(std::int64_t size) {
  const std::string tensor = field(1, size / 4) + field(2, 1) + field(8, "w");
  const std::string node = field(1, field(1, "x") + field(2, "y") + field(3, "n") + field(4, "Relu"));
  const std::string type = field(1, field(1, 1) + field(2, field(1, field(1, 5))));
  const std::string input = field(11, field(1, "x") + field(2, type));
  const std::string data_head = head_of_field(9, size);
  const std::int64_t tensor_size = static_cast<std::int64_t>(tensor.size() + data_head.size()) + size;
  const std::string tensor_head = head_of_field(5, tensor_size);
  const std::int64_t graph_size =
      static_cast<std::int64_t>(node.size() + tensor_head.size() + input.size()) + tensor_size;
  return {field(1, 8) + field(8, field(2, 13)) + head_of_field(7, graph_size) + node + tensor_head + tensor + data_head,
          input, size};
}

// A GraphDef of a constant of `size` bytes and its Relu.
SparseFile graphdef_with_weight(std::int64_t size) {
  const std::string dtype = field(5, field(1, "dtype") + field(2, field(6, 1)));
  const std::string shape = field(1, 1) + field(2, field(2, field(1, size / 4)));
  const auto nested = [&](int number, const std::string& front, const std::string& rest, std::int64_t inner) {
    const std::int64_t total = static_cast<std::int64_t>(front.size() + rest.size()) + inner;
    return head_of_field(number, total) + front + rest;
  };
  const std::string content = head_of_field(4, size);
  const auto length = [&](const std::string& head) { return static_cast<std::int64_t>(head.size()) + size; };
  const std::string tensor = nested(8, shape, content, size);
  const std::string value = nested(2, "", tensor, size);
  const std::string entry = nested(5, field(1, "value"), value, size);
  const std::string node = nested(1, field(1, "w") + field(2, "Const") + dtype, entry, size);
  EXPECT_GT(length(node), size);
  return {node, field(1, field(1, "r") + field(2, "Relu") + field(3, "w")), size};
}

// Memory that `work` needs at most, in a process of its own: bytes beyond what this process has now.
template <class Work>
std::int64_t peak_of(Work&& work) {
  std::ifstream statm("/proc/self/statm");
  std::int64_t pages = 0, resident = 0;
  statm >> pages >> resident;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  int status = 0;
  struct rusage usage {};
  EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return usage.ru_maxrss * 1024 - resident * ::sysconf(_SC_PAGESIZE);
}

TEST(LargeFiles, AWeightOfTwoGigabytesIsNeverLoaded) {
  const test::TemporaryFolder folder;
  const std::int64_t size = 2000 * mebibyte;
  for (const auto& [name, file] : {std::pair{"m.onnx", onnx_with_weight(size)}, {"m.pb", graphdef_with_weight(size)}}) {
    const std::string path = folder / name;
    file.write(path);
    const std::int64_t peak = peak_of([&path, size] {
      const Graph graph = read_graph(path);
      return graph.parameters.size() == 1 && graph.parameters[0].bytes() == size;
    });
    EXPECT_LT(peak, 100 * mebibyte) << name;
  }
}

TEST(LargeFiles, AnOnnxFileBeyondTwoGibibytesIsRefusedAtOnce) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "m.onnx";
  onnx_with_weight(3000 * mebibyte).write(path);
  try {
    read_graph(path);
    FAIL() << "read without an error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("an ONNX file has less than 2 GiB"));
  }
}

TEST(LargeFiles, ExternalDataOfOnnxMustBeThere) {
  const auto model = [](const std::string& entries) {
    const std::string tensor = field(1, 1000) + field(2, 1) + field(8, "w") + entries + field(14, 1);
    const std::string node = field(1, field(1, "w") + field(2, "y") + field(3, "n") + field(4, "Relu"));
    return field(1, 8) + field(8, field(2, 13)) + field(7, node + field(5, tensor));
  };
  const auto entry = [](const char* key, const char* value) { return field(13, field(1, key) + field(2, value)); };
  const test::TemporaryFolder folder;
  const std::string path = folder / "m.onnx";
  const auto error_of = [&](const std::string& entries) -> std::string {
    std::ofstream(path, std::ios::binary) << model(entries);
    try {
      read_graph(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "read without an error";
  };
  EXPECT_THAT(error_of(entry("location", "w.bin")),
              HasSubstr("initializer 'w': its external data 'w.bin' cannot be found"));
  SparseFile{"", "x", 3999}.write(folder / "w.bin");
  EXPECT_EQ(error_of(entry("location", "w.bin") + entry("length", "4000")), "read without an error");
  EXPECT_THAT(error_of(entry("location", "w.bin") + entry("offset", "8") + entry("length", "4000")),
              HasSubstr("should be 4000 bytes from byte 8 of 'w.bin', which has 4000"));
  EXPECT_THAT(error_of(entry("offset", "0")), HasSubstr("initializer 'w': its external data has no location"));
  EXPECT_THAT(error_of(entry("location", "../w.bin")), HasSubstr("should be in the model's folder"));
  EXPECT_THAT(error_of(entry("location", "w.bin") + entry("length", "-4")), HasSubstr("should be a whole number"));
}

}  // namespace
}  // namespace emplace::formats::large_files_test
