#include "language/buffer_plan.hpp"

#include <algorithm>
#include <limits>

namespace emplace::language {

// One run through the graph: places are taken as tensors are computed and given back after their last reader.
class BufferLayout {
  class FreeBlocks {
   public:
    explicit FreeBlocks(Bytes alignment) : alignment_(alignment) {}

    Bytes take(Bytes bytes) {
      bytes = aligned(bytes);
      // The last block is the rest of the address space: it is taken from only if no other fits.
      std::size_t best = blocks_.size() - 1;
      for (std::size_t i = 0; i + 1 < blocks_.size(); ++i)
        if (blocks_[i].bytes >= bytes && (best + 1 == blocks_.size() || blocks_[i].bytes <= blocks_[best].bytes))
          best = i;
      const Bytes offset = blocks_[best].offset;
      blocks_[best].offset += bytes;
      blocks_[best].bytes -= bytes;
      if (blocks_[best].bytes == 0) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(best));
      end_ = std::max(end_, offset + bytes);
      return offset;
    }

    void give_back(Bytes offset, Bytes bytes) {
      bytes = aligned(bytes);
      auto next = std::ranges::find_if(blocks_, [&](const Block& block) { return block.offset > offset; });
      if (next != blocks_.begin() && std::prev(next)->offset + std::prev(next)->bytes == offset) {
        next = std::prev(next);
        next->bytes += bytes;
      } else {
        next = blocks_.insert(next, {offset, bytes});
      }
      const auto after = std::next(next);
      if (after != blocks_.end() && next->offset + next->bytes == after->offset) {
        next->bytes += after->bytes;
        blocks_.erase(after);
      }
    }

    [[nodiscard]] Bytes end() const { return end_; }

   private:
    struct Block {
      Bytes offset, bytes;
    };

    [[nodiscard]] Bytes aligned(Bytes bytes) const { return (bytes + alignment_ - 1) / alignment_ * alignment_; }

    Bytes alignment_, end_ = 0;
    std::vector<Block> blocks_{{0, std::numeric_limits<Bytes>::max() / 2}};
  };

 public:
  BufferLayout(const BufferPlan& plan, Bytes alignment)
      : nodes_(plan.nodes_), splits_(plan.splits_), free_(plan.devices_, FreeBlocks(alignment)), of_(nodes_.size()) {
    for (const BufferPlan::Node& node : nodes_) {
      for (const BufferPlan::Tensor source : node.sources) ++at(source).readers;
      if (node.root >= 0) ++at(node.root).views;
    }
  }

  std::vector<Bytes> run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].kind == BufferPlan::Kind::input) place(i);
    for (const BufferPlan::Split& split : splits_) {
      for (const BufferPlan::Tensor tensor : split.copies) compute(static_cast<std::size_t>(tensor));
      for (const BufferPlan::Tensor tensor : split.nodes) compute(static_cast<std::size_t>(tensor));
    }
    std::vector<Bytes> ends;
    for (const FreeBlocks& free : free_) ends.push_back(free.end());
    return ends;
  }

 private:
  struct State {
    int readers = 0, views = 0;
    bool has_place = false;
    Bytes offset = 0;
  };

  State& at(BufferPlan::Tensor tensor) { return of_[static_cast<std::size_t>(tensor)]; }
  const BufferPlan::Node& node(BufferPlan::Tensor tensor) const { return nodes_[static_cast<std::size_t>(tensor)]; }

  void compute(std::size_t i) {
    const BufferPlan::Kind kind = nodes_[i].kind;
    if (kind == BufferPlan::Kind::in_place ? !reuse(i) : kind == BufferPlan::Kind::result) place(i);
    for (const BufferPlan::Tensor source : nodes_[i].sources) release(source);
  }

  void place(std::size_t i) {
    of_[i].offset = free_[nodes_[i].device].take(nodes_[i].bytes * nodes_[i].copies);
    of_[i].has_place = true;
  }

  bool reuse(std::size_t i) {
    for (const BufferPlan::Tensor source : nodes_[i].sources) {
      State& state = at(source);
      if (!state.has_place || node(source).kept || node(source).bytes != nodes_[i].bytes) continue;
      if (state.readers != 1 || state.views != 0) continue;
      of_[i].offset = state.offset;
      of_[i].has_place = true;
      state.has_place = false;
      return true;
    }
    return false;
  }

  void release(BufferPlan::Tensor tensor) {
    State& state = at(tensor);
    if (--state.readers > 0 || state.views > 0) return;
    if (node(tensor).root < 0) return give_back(tensor);
    State& root = at(node(tensor).root);
    if (--root.views == 0 && root.readers == 0) give_back(node(tensor).root);
  }

  void give_back(BufferPlan::Tensor tensor) {
    State& state = at(tensor);
    if (!state.has_place || node(tensor).kept) return;
    free_[node(tensor).device].give_back(state.offset, node(tensor).bytes);
    state.has_place = false;
  }

  const std::vector<BufferPlan::Node>& nodes_;
  const std::vector<BufferPlan::Split>& splits_;
  std::vector<FreeBlocks> free_;
  std::vector<State> of_;
};

BufferPlan::Tensor BufferPlan::add(Kind kind, Bytes bytes, std::vector<Tensor> sources) {
  for (Tensor& source : sources)
    if (nodes_[static_cast<std::size_t>(source)].device != device_) source = copied(source);
  nodes_.push_back({kind, device_, bytes, std::move(sources)});
  splits_.back().nodes.push_back(static_cast<Tensor>(nodes_.size()) - 1);
  return static_cast<Tensor>(nodes_.size()) - 1;
}

BufferPlan::Tensor BufferPlan::copied(Tensor source) {
  const auto [found, is_new] = copy_of_.try_emplace({source, device_}, static_cast<Tensor>(nodes_.size()));
  if (!is_new) return found->second;
  nodes_.push_back({copies_ > 1 ? Kind::input : Kind::result, device_, bytes(source), {source}});
  nodes_.back().kept = copies_ > 1;
  nodes_.back().copies = copies_;
  splits_.back().copies.push_back(found->second);
  return found->second;
}

void BufferPlan::on(std::size_t device) {
  if (device == device_) return;
  device_ = device;
  splits_.emplace_back();
}

BufferPlan::Tensor BufferPlan::input(Bytes bytes) {
  const Tensor made = unread_input(bytes);
  nodes_.back().kept = copies_ > 1;
  nodes_.back().copies = copies_;
  return made;
}

BufferPlan::Tensor BufferPlan::unread_input(Bytes bytes) {
  const Tensor made = add(Kind::input, bytes, {});
  nodes_.back().device = 0;
  return made;
}

BufferPlan::Tensor BufferPlan::result(Bytes bytes, std::initializer_list<Tensor> sources) {
  return add(Kind::result, bytes, sources);
}

BufferPlan::Tensor BufferPlan::in_place(Bytes bytes, std::initializer_list<Tensor> sources) {
  return add(Kind::in_place, bytes, sources);
}

BufferPlan::Tensor BufferPlan::view(Tensor of) {
  const Node source = nodes_[static_cast<std::size_t>(of)];
  const std::size_t here = std::exchange(device_, source.device);
  const Tensor made = add(Kind::view, source.bytes, {of});
  device_ = here;
  nodes_[static_cast<std::size_t>(made)].root = source.root >= 0 ? source.root : of;
  return made;
}

void BufferPlan::read(Tensor source) { add(Kind::read, 0, {source}); }

void BufferPlan::keep(Tensor tensor) { nodes_[static_cast<std::size_t>(tensor)].kept = true; }

Bytes BufferPlan::bytes(Tensor tensor) const { return nodes_[static_cast<std::size_t>(tensor)].bytes; }

std::size_t BufferPlan::device(Tensor tensor) const { return nodes_[static_cast<std::size_t>(tensor)].device; }

std::vector<Bytes> BufferPlan::totals(Bytes alignment) const { return BufferLayout(*this, alignment).run(); }

}  // namespace emplace::language
