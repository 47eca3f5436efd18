#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "experiment/run/checkpoint_hdf5.hpp"
#include "experiment/run/checkpoint_image.hpp"

namespace emplace::experiment {

namespace {

using hdf5::check;
using hdf5::Handle;

constexpr std::size_t seal_room = 128;

// Chunks of at most this many elements: small enough that a damaged chunk size cannot ask for much memory.
constexpr std::uint64_t chunk_elements = std::uint64_t{1} << 17;

// Row-major blocks: as many whole trailing dimensions as fit; every dimension is at least 1.
std::vector<hsize_t> chunk_shape(const std::vector<std::uint64_t>& shape) {
  std::vector<hsize_t> chunk(shape.size(), 1);
  std::uint64_t left = chunk_elements;
  for (std::size_t d = shape.size(); d-- > 0;) {
    chunk[d] = std::clamp<std::uint64_t>(shape[d], 1, left);
    left /= chunk[d];
  }
  return chunk;
}

// Whether HDF5 uses the name as it is, like "policy/layer/bias": no part is empty, "." or "..".
bool is_path(const std::string& name) {
  if (name.empty() || name.find('\0') != std::string::npos) return false;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part(name.data() + begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

// The buffer of HDF5's core driver, kept when the file is closed. (H5Fget_file_image takes it from an open file, but in
// HDF5 1.10 leaves a superblock whose checksum is wrong.)
class KeptImage {
 public:
  KeptImage() = default;
  ~KeptImage() { std::free(data_); }
  KeptImage(const KeptImage&) = delete;
  KeptImage& operator=(const KeptImage&) = delete;

  [[nodiscard]] H5FD_file_image_callbacks_t callbacks() {
    return {.image_malloc = [](std::size_t size, H5FD_file_image_op_t, void*) { return std::malloc(size); },
            .image_memcpy = [](void* to, const void* from, std::size_t size, H5FD_file_image_op_t,
                               void*) { return std::memcpy(to, from, size); },
            .image_realloc = resize,
            .image_free = keep,
            .udata_copy = [](void* kept) { return kept; },
            .udata_free = [](void*) -> herr_t { return 0; },
            .udata = this};
  }
  // The buffer as a string with room for a seal; frees the buffer.
  [[nodiscard]] std::string take() {
    std::string bytes;
    bytes.reserve(size_ + seal_room);
    bytes.assign(static_cast<const char*>(data_), size_);
    std::free(std::exchange(data_, nullptr));
    return bytes;
  }

 private:
  static void* resize(void* data, std::size_t size, H5FD_file_image_op_t, void* kept) {
    void* moved = std::realloc(data, size);
    if (moved != nullptr) static_cast<KeptImage*>(kept)->size_ = size;
    return moved;
  }
  static herr_t keep(void* data, H5FD_file_image_op_t operation, void* kept) {
    if (operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE)
      static_cast<KeptImage*>(kept)->data_ = data;
    else
      std::free(data);
    return 0;
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

class Writer {
 public:
  Writer() : group_plain_(plain(H5P_GROUP_CREATE)) {
    const Handle access = hdf5::property_list(H5P_FILE_ACCESS);
    // The memory grows by 4 KiB at a time; nothing is written to a file.
    check(H5Pset_fapl_core(access, 4096, false), "choose the memory driver");
    H5FD_file_image_callbacks_t callbacks = image_.callbacks();
    check(H5Pset_file_image_callbacks(access, &callbacks), "keep the image");
    // The latest format protects its metadata with checksums and holds attributes over 64 KiB.
    check(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "choose the latest format");
    check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "choose how to close");
    const Handle creation = plain(H5P_FILE_CREATE);
    file_ = check(H5Fcreate("checkpoint.h5", H5F_ACC_TRUNC, creation, access), "make a file in memory");
  }
  ~Writer() {
    if (file_ >= 0) H5Fclose(file_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void attribute(const std::string& name, const std::string& text) {
    const std::string what = "write attribute " + name;
    EMPLACE_CHECK(!name.empty() && text.find('\0') == std::string::npos, "attribute {}", name);
    // HDF5 has no strings of length 0: the empty text is one padding zero.
    const std::string padded = text.empty() ? std::string(1, '\0') : text;
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, what);
    check(H5Tset_size(type, padded.size()), what);
    check(H5Tset_strpad(type, H5T_STR_NULLPAD), what);
    check(H5Tset_cset(type, H5T_CSET_UTF8), what);
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose, what);
    const Handle made(H5Acreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
    check(H5Awrite(made, type, padded.data()), what);
  }

  void array(const std::string& name, const StateArray& array) {
    EMPLACE_CHECK(is_path(name), "array name '{}'", name);
    EMPLACE_CHECK(array.shape.size() <= H5S_MAX_RANK, "array {} has {} dimensions", name, array.shape.size());
    make_groups(name);
    std::visit([&](const auto& values) { dataset(name, array.shape, values); }, array.data);
  }

  std::string image() {
    groups_.clear();
    const hid_t file = std::exchange(file_, H5I_INVALID_HID);
    check(H5Fclose(file), "close the file in memory");
    return image_.take();
  }

 private:
  // Without time stamps, so that equal checkpoints are equal files.
  static Handle plain(hid_t kind) {
    Handle list = hdf5::property_list(kind);
    check(H5Pset_obj_track_times(list, false), "switch time stamps off");
    return list;
  }

  void make_groups(const std::string& name) {
    for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
      const std::string group = name.substr(0, at);
      if (groups_.contains(group)) continue;
      const std::string what = "make group " + group;
      groups_.emplace(group,
                      Handle(H5Gcreate2(file_, group.c_str(), H5P_DEFAULT, group_plain_, H5P_DEFAULT), H5Gclose, what));
    }
  }

  template <class T>
  void dataset(const std::string& name, const std::vector<std::uint64_t>& shape, const std::vector<T>& values) {
    const std::string what = "write array " + name;
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    EMPLACE_CHECK(count == values.size(), "array {} has {} values in a shape of {}", name, values.size(), count);
    const Handle creation = plain(H5P_DATASET_CREATE);
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    const int rank = static_cast<int>(shape.size());
    const Handle space(rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, extents.data(), nullptr), H5Sclose,
                       what);
    if (rank == 0) {
      // A scalar cannot be chunked; compact, it lies within the checksum of its object header.
      check(H5Pset_layout(creation, H5D_COMPACT), what);
    } else {
      check(H5Pset_chunk(creation, rank, chunk_shape(shape).data()), what);
      check(H5Pset_fletcher32(creation), what);
    }
    const Handle made(H5Dcreate2(file_, name.c_str(), hdf5::file_type<T>(), space, H5P_DEFAULT, creation, H5P_DEFAULT),
                      H5Dclose, what);
    if (count > 0) check(H5Dwrite(made, hdf5::memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), what);
  }

  KeptImage image_;
  hid_t file_ = H5I_INVALID_HID;
  Handle group_plain_;
  std::map<std::string, Handle> groups_;
};

}  // namespace

std::string checkpoint_image(const Checkpoint& checkpoint) {
  const hdf5::Silence silence;
  try {
    Writer writer;
    for (const auto& [name, array] : checkpoint.arrays) writer.array(name, array);
    for (const auto& [name, text] : checkpoint.attributes) {
      EMPLACE_CHECK(name != format_attribute && name != digest_attribute, "attribute {} is reserved", name);
      writer.attribute(name, text);
    }
    writer.attribute(format_attribute, checkpoint_format);
    writer.attribute(digest_attribute, checkpoint_digest(checkpoint));
    std::string image = writer.image();
    if (image.size() > max_checkpoint_bytes)
      throw EnvironmentError("checkpoint: would have {} bytes, at most {} can be read again", image.size(),
                             max_checkpoint_bytes);
    return image;
  } catch (const hdf5::Error& error) {
    throw EnvironmentError("checkpoint: {}", error.what());
  }
}

}  // namespace emplace::experiment
