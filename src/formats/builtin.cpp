// The readers of model files, in the order in which they are asked.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"
#include "emplace/formats/reader.hpp"
#include "graphdef.hpp"
#include "onnx.hpp"
#include "openvino.hpp"

namespace emplace {

namespace {

// The first 4 KiB.
std::string head_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // never waits for a pipe
  if (file < 0) throw InputError(path, "cannot be read: {}", std::strerror(errno));
  std::string head(4096, '\0');
  struct stat info {};
  const bool regular = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  const ssize_t got = regular ? ::read(file, head.data(), head.size()) : 0;
  ::close(file);
  if (!regular) throw InputError(path, "is not a regular file");
  if (got < 0) throw InputError(path, "cannot be read: {}", std::strerror(errno));
  head.resize(static_cast<std::size_t>(got));
  return head;
}

}  // namespace

std::span<const ReaderEntry> readers() {
  static const std::vector<ReaderEntry> entries = {openvino_reader(), tfjs_reader(), cost_graph_reader(),
                                                   graphdef_reader(), onnx_reader()};
  return entries;
}

Graph read_graph(const std::string& path, const ReadOptions& options) {
  const std::string head = head_of(path);
  for (const ReaderEntry& reader : readers())
    if (reader.recognises(path, head)) return reader.read(path, options);
  throw InputError(path, "is no model file of a known format; known: {}", join(entry_names(readers()), ", "));
}

}  // namespace emplace
