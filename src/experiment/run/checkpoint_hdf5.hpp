// HDF5 behind RAII: the only place that includes hdf5.h. Its error stack is silenced and becomes the exception's text.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/base/error.hpp"

namespace emplace::experiment::hdf5 {

// Nothing of HDF5 reaches standard error while one of these lives.
class Silence {
 public:
  Silence() {
    // Its files are memory only; at exit it would complain of what a hostile one left open.
    H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// What HDF5 could not do. Writers turn it into our bug or the environment's fault, readers into an InputError.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws `what` with the outermost and the innermost sentence of HDF5's error stack.
[[noreturn]] void fail(const std::string& what);

// For calls that answer with an id, a status or a count: negative means failure.
template <class Result>
Result check(Result result, const std::string& what) {
  if (result < 0) fail(what);
  return result;
}

class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(check(id, what)), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = H5I_INVALID_HID; }
  Handle& operator=(Handle&&) = delete;
  operator hid_t() const { return id_; }

 private:
  void reset() {
    if (id_ >= 0) close_(id_);
  }

  hid_t id_;
  herr_t (*close_)(hid_t);
};

inline Handle property_list(hid_t kind) { return {H5Pcreate(kind), H5Pclose, "make a property list"}; }

// Element types on file (little endian, fixed width) and in memory.
template <class T>
hid_t file_type();
template <>
inline hid_t file_type<float>() {
  return H5T_IEEE_F32LE;
}
template <>
inline hid_t file_type<double>() {
  return H5T_IEEE_F64LE;
}
template <>
inline hid_t file_type<std::int64_t>() {
  return H5T_STD_I64LE;
}
template <>
inline hid_t file_type<std::uint64_t>() {
  return H5T_STD_U64LE;
}
template <>
inline hid_t file_type<std::uint8_t>() {
  return H5T_STD_U8LE;
}

template <class T>
hid_t memory_type();
template <>
inline hid_t memory_type<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
inline hid_t memory_type<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
inline hid_t memory_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}
template <>
inline hid_t memory_type<std::uint64_t>() {
  return H5T_NATIVE_UINT64;
}
template <>
inline hid_t memory_type<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}

}  // namespace emplace::experiment::hdf5
