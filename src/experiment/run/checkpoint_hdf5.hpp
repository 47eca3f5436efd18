// HDF5 handles with RAII; the only place that includes hdf5.h. HDF5's error messages are not printed but become the
// text of exceptions.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/base/error.hpp"

namespace emplace::experiment::hdf5 {

// While an object of this class exists, HDF5 prints nothing on standard error.
class Silence {
 public:
  Silence() {
    // HDF5's files are in memory only; at exit it would print errors about objects that a hostile file left open.
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

// A call of HDF5 failed. Writers turn this into a BugError or an EnvironmentError, readers into an InputError.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws `what` with the outermost and the innermost sentence of HDF5's error stack.
[[noreturn]] void fail(const std::string& what);

// For calls that return an id, a status or a count: negative means failure.
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
