#include <fmt/format.h>

#include "base/text.hpp"
#include "experiment/run/checkpoint_hdf5.hpp"
#include "experiment/run/checkpoint_image.hpp"

namespace emplace::experiment {

namespace {

using hdf5::check;
using hdf5::Handle;

// Bounds on the groups and objects that we read from a damaged or hostile file; far above those of any checkpoint that
// we write.
constexpr std::size_t max_depth = 16;
constexpr std::size_t max_objects = 100'000;
constexpr std::uint64_t max_chunk_bytes = std::uint64_t{1} << 20;

struct Link {
  std::string name;
  H5L_type_t type;
};

herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* data) noexcept {
  auto& links = *static_cast<std::vector<Link>*>(data);
  try {
    if (links.size() == max_objects) return -1;
    links.push_back({name, info->type});
  } catch (...) {
    return -1;
  }
  return 0;
}

herr_t collect_attribute(hid_t, const char* name, const H5A_info_t*, void* data) noexcept {
  auto& names = *static_cast<std::vector<std::string>*>(data);
  try {
    if (names.size() == max_objects) return -1;
    names.emplace_back(name);
  } catch (...) {
    return -1;
  }
  return 0;
}

class Reader {
 public:
  Reader(std::string_view image, const std::string& file) : place_(file), left_(image.size()) {
    const Handle access = hdf5::property_list(H5P_FILE_ACCESS);
    check(H5Pset_fapl_core(access, std::size_t{1} << 20, false), "choose the memory driver");
    check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "choose how to close");
    // HDF5 copies the image; the file opened read-only never writes to it.
    check(H5Pset_file_image(access, const_cast<char*>(image.data()), image.size()), "take the image");
    file_.emplace_back(H5Fopen("checkpoint.h5", H5F_ACC_RDONLY, access), H5Fclose, "open it");
  }

  std::map<std::string, std::string> attributes() {
    std::map<std::string, std::string> texts;
    for (const std::string& name : attribute_names(file())) texts[name] = attribute(name);
    return texts;
  }

  State arrays() {
    const Handle root(H5Gopen2(file(), "/", H5P_DEFAULT), H5Gclose, "open the root group");
    group(root, "", 0);
    return std::move(arrays_);
  }

 private:
  [[nodiscard]] hid_t file() const { return file_.front(); }

  static std::vector<std::string> attribute_names(hid_t object) {
    std::vector<std::string> names;
    check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_attribute, &names), "list the attributes");
    return names;
  }

  // Counts the bytes that are read, which cannot be more than the file has: so a damaged shape or length cannot make us
  // allocate more memory than that.
  void take(std::uint64_t bytes, const std::string& name) {
    if (bytes > left_) throw InputError(place_, "{} claims more bytes than the file has", quote(name));
    left_ -= bytes;
  }

  std::string attribute(const std::string& name) {
    const std::string what = "read attribute " + quote(name);
    const Handle opened(H5Aopen(file(), name.c_str(), H5P_DEFAULT), H5Aclose, what);
    const Handle type(H5Aget_type(opened), H5Tclose, what);
    const Handle space(H5Aget_space(opened), H5Sclose, what);
    if (H5Tget_class(type) != H5T_STRING || check(H5Tis_variable_str(type), what) > 0 ||
        H5Sget_simple_extent_type(space) != H5S_SCALAR)
      throw InputError(place_, "attribute {} is not one text of fixed length", quote(name));
    std::string text(bytes_of(type, "attribute " + name), '\0');
    check(H5Aread(opened, type, text.data()), what);
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }

  std::size_t bytes_of(hid_t type, const std::string& name) {
    const std::size_t bytes = H5Tget_size(type);
    if (bytes == 0) hdf5::fail("measure " + quote(name));
    take(bytes, name);
    return bytes;
  }

  void group(hid_t at, const std::string& prefix, std::size_t depth) {
    if (depth > max_depth) throw InputError(place_, "groups are nested deeper than {}", max_depth);
    std::vector<Link> links;
    check(H5Literate(at, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_link, &links), "list the group /" + prefix);
    if (links.empty() && depth > 0) throw InputError(place_, "the group /{} is empty", printable(prefix));
    for (const Link& link : links) {
      const std::string name = prefix + link.name;
      if (++objects_ > max_objects) throw InputError(place_, "holds more than {} objects", max_objects);
      if (link.type != H5L_TYPE_HARD) throw InputError(place_, "{} is a link to elsewhere", quote(name));
      const Handle object(H5Oopen(at, link.name.c_str(), H5P_DEFAULT), H5Oclose, "open " + quote(name));
      if (!attribute_names(object).empty())
        throw InputError(place_, "{} has attributes, which only the root of a checkpoint has", quote(name));
      switch (H5Iget_type(object)) {
        case H5I_GROUP: group(object, name + "/", depth + 1); break;
        case H5I_DATASET: dataset(object, name); break;
        default: throw InputError(place_, "{} is neither a group nor an array", quote(name));
      }
    }
  }

  void dataset(hid_t opened, const std::string& name) {
    const std::string what = "read array " + quote(name);
    const Handle type(H5Dget_type(opened), H5Tclose, what);
    const Handle space(H5Dget_space(opened), H5Sclose, what);
    const Handle creation(H5Dget_create_plist(opened), H5Pclose, what);
    StateArray array;
    const H5S_class_t shape_class = H5Sget_simple_extent_type(space);
    if (shape_class != H5S_SCALAR && shape_class != H5S_SIMPLE)
      throw InputError(place_, "array {} has no shape", quote(name));
    const int rank = check(H5Sget_simple_extent_ndims(space), what);
    std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
    if (rank > 0) check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), what);
    array.shape.assign(extents.begin(), extents.end());
    const bool known = read_as<float>(opened, type, creation, name, array) ||
                       read_as<double>(opened, type, creation, name, array) ||
                       read_as<std::int64_t>(opened, type, creation, name, array) ||
                       read_as<std::uint64_t>(opened, type, creation, name, array) ||
                       read_as<std::uint8_t>(opened, type, creation, name, array);
    if (!known)
      throw InputError(place_, "array {} has an element type other than float32, float64, int64, uint64 and uint8",
                       quote(name));
    arrays_[name] = std::move(array);
  }

  template <class T>
  bool read_as(hid_t opened, hid_t type, hid_t creation, const std::string& name, StateArray& array) {
    const std::string what = "read array " + quote(name);
    if (check(H5Tequal(type, hdf5::file_type<T>()), what) == 0) return false;
    std::uint64_t count = 1;
    for (const std::uint64_t extent : array.shape)
      if (__builtin_mul_overflow(count, extent, &count))
        throw InputError(place_, "{} claims more bytes than the file has", quote(name));
    if (count > left_) throw InputError(place_, "{} claims more bytes than the file has", quote(name));
    take(count * sizeof(T), name);
    check_layout(creation, sizeof(T), name);
    std::vector<T> values(count);
    if (count > 0) check(H5Dread(opened, hdf5::memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), what);
    array.data = std::move(values);
    return true;
  }

  // Refuses layouts that save_checkpoint does not write: other filters, large chunks, data stored outside the file.
  void check_layout(hid_t creation, std::size_t element_bytes, const std::string& name) {
    const std::string what = "read the layout of array " + quote(name);
    const H5D_layout_t layout = check(H5Pget_layout(creation), what);
    const int filters = check(H5Pget_nfilters(creation), what);
    if (layout == H5D_COMPACT && filters == 0) return;
    bool as_written = layout == H5D_CHUNKED && filters == 1;
    if (as_written) {
      unsigned flags = 0;
      std::size_t values = 0;
      as_written = H5Pget_filter2(creation, 0, &flags, &values, nullptr, 0, nullptr, nullptr) == H5Z_FILTER_FLETCHER32;
      std::vector<hsize_t> chunk(H5S_MAX_RANK, 0);
      const int rank = check(H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data()), what);
      std::uint64_t bytes = element_bytes;
      for (int d = 0; d < rank; ++d)
        if (__builtin_mul_overflow(bytes, chunk[static_cast<std::size_t>(d)], &bytes)) bytes = max_chunk_bytes + 1;
      as_written = as_written && bytes <= max_chunk_bytes;
    }
    if (!as_written) throw InputError(place_, "array {} is not stored as emplace stores it", quote(name));
  }

  std::string place_;
  std::uint64_t left_;
  std::size_t objects_ = 0;
  std::vector<Handle> file_;
  State arrays_;
};

}  // namespace

Checkpoint read_checkpoint_image(std::string_view image, const std::string& file) {
  const hdf5::Silence silence;
  try {
    Reader reader(image, file);
    Checkpoint checkpoint;
    checkpoint.attributes = reader.attributes();
    const auto format = checkpoint.attributes.extract(format_attribute);
    if (format.empty())
      throw InputError(file, "is an HDF5 file but no checkpoint of emplace (no attribute '{}')", format_attribute);
    if (format.mapped() != checkpoint_format)
      throw InputError(file, "has format {}, this program reads '{}'", quote(format.mapped()), checkpoint_format);
    const auto digest = checkpoint.attributes.extract(digest_attribute);
    if (digest.empty()) throw InputError(file, "is damaged: it has no digest");
    checkpoint.arrays = reader.arrays();
    const std::string actual = checkpoint_digest(checkpoint);
    if (digest.mapped() != actual)
      throw InputError(file, "is damaged: its content has digest {}, its attribute says {}", actual,
                       quote(digest.mapped()));
    const std::string nan = find_nan(checkpoint.arrays);
    if (!nan.empty()) throw InputError(file, "{}", nan);
    return checkpoint;
  } catch (const hdf5::Error& error) {
    throw InputError(file, "is damaged: {}", error.what());
  }
}

}  // namespace emplace::experiment
