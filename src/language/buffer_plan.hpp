// The sizes of the buffers that hold the intermediate results of a graph on each device, as ggml's allocator lays them
// out (llama.cpp, ggml/src/ggml-alloc.c and ggml-backend.cpp): a tensor goes to the freed block that fits best, or to
// the end, and is not moved until its last reader has run. What is in between, too small for the next tensor, is lost,
// so that a buffer is larger than the most that is alive at one time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "emplace/base/types.hpp"

namespace emplace::language {

// Tensors are added in the order in which they are computed.
class BufferPlan {
 public:
  using Tensor = int;

  // `copies` above 1: the runtime begins micro-batches before others are done, and each has inputs of its own.
  explicit BufferPlan(std::size_t devices = 1, int copies = 1) : devices_(devices), copies_(copies) {}

  // What is added next is computed by this device. Sources that others computed are copied to it, all that a device
  // needs until the next call with another one at the beginning.
  void on(std::size_t device);
  // Given by the caller on device 0 before the graph runs: inputs get their places first.
  Tensor input(Bytes bytes);
  // An input that this graph does not read.
  Tensor unread_input(Bytes bytes);
  Tensor result(Bytes bytes, std::initializer_list<Tensor> sources);
  // May take the place of the first source that has this size and that nothing else reads.
  Tensor in_place(Bytes bytes, std::initializer_list<Tensor> sources);
  // Other sizes or order of the same values.
  Tensor view(Tensor of);
  // Read for a result that has its place elsewhere, as the KV cache.
  void read(Tensor source);
  // Never freed.
  void keep(Tensor tensor);

  [[nodiscard]] Bytes bytes(Tensor tensor) const;
  [[nodiscard]] std::size_t device(Tensor tensor) const;
  // Of each device's buffer, with places at multiples of `alignment`.
  [[nodiscard]] std::vector<Bytes> totals(Bytes alignment = 32) const;

 private:
  friend class BufferLayout;
  enum class Kind : std::uint8_t { input, result, in_place, view, read };
  struct Node {
    Kind kind;
    std::size_t device = 0;
    Bytes bytes = 0;  // of one copy
    std::vector<Tensor> sources;
    Tensor root = -1;  // of views: the tensor that has the values
    bool kept = false;
    int copies = 1;
  };

  // Nodes between two changes of the device: copies of what others computed come first.
  struct Split {
    std::vector<Tensor> copies, nodes;
  };

  Tensor add(Kind kind, Bytes bytes, std::vector<Tensor> sources);
  Tensor copied(Tensor source);

  std::size_t devices_, device_ = 0;
  int copies_;
  std::vector<Node> nodes_;
  std::vector<Split> splits_{1};
  std::map<std::pair<Tensor, std::size_t>, Tensor> copy_of_;
};

}  // namespace emplace::language
