// Reads and writes the big-endian numbers u1, u2 and u4 of the class-file format (JVMS 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace jtrace::classfile {

using Bytes = absl::Span<const uint8_t>;

// The greatest u2 (JVMS 4): the limit of counts, lengths and positions.
inline constexpr int kMaxU2 = 65535;

// Reads untrusted bytes. A read past the end yields zero and makes `ok()` false permanently, so a
// caller may read a whole structure and check once; loops over untrusted counts must check inside.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return position_ == bytes_.size(); }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  uint8_t U1() { return Need(1) ? bytes_[position_++] : 0; }
  uint16_t U2() {
    if (!Need(2)) return 0;
    const uint8_t* p = bytes_.data() + position_;
    position_ += 2;
    return static_cast<uint16_t>(p[0] << 8 | p[1]);
  }
  uint32_t U4() {
    const uint32_t high = U2();
    return high << 16 | U2();
  }
  void Skip(size_t n) {
    if (Need(n)) position_ += n;
  }
  Bytes Take(size_t n) {
    if (!Need(n)) return {};
    position_ += n;
    return bytes_.subspan(position_ - n, n);
  }

 private:
  bool Need(size_t n) {
    if (n <= remaining()) return ok_;
    ok_ = false;
    position_ = bytes_.size();
    return false;
  }

  Bytes bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

inline uint16_t LoadU2(const uint8_t* p) { return static_cast<uint16_t>(p[0] << 8 | p[1]); }
inline uint32_t LoadU4(const uint8_t* p) {
  return static_cast<uint32_t>(LoadU2(p)) << 16 | LoadU2(p + 2);
}
inline void StoreU2(uint8_t* p, uint32_t value) {
  p[0] = static_cast<uint8_t>(value >> 8);
  p[1] = static_cast<uint8_t>(value);
}
inline void StoreU4(uint8_t* p, uint32_t value) {
  StoreU2(p, value >> 16);
  StoreU2(p + 2, value);
}

// Appends to a growing buffer.
class ByteWriter {
 public:
  size_t size() const { return bytes_.size(); }
  uint8_t* data() { return bytes_.data(); }
  Bytes bytes() const { return bytes_; }
  std::vector<uint8_t> Release() { return std::move(bytes_); }

  void Reserve(size_t n) { bytes_.reserve(n); }
  void Clear() { bytes_.clear(); }
  void Truncate(size_t size) { bytes_.resize(size); }

  void U1(uint32_t value) { bytes_.push_back(static_cast<uint8_t>(value)); }
  void U2(uint32_t value) { StoreU2(Grow(2), value); }
  void U4(uint32_t value) { StoreU4(Grow(4), value); }
  void Append(Bytes bytes) {
    if (!bytes.empty()) std::memcpy(Grow(bytes.size()), bytes.data(), bytes.size());
  }
  void PatchU2(size_t at, uint32_t value) { StoreU2(bytes_.data() + at, value); }
  void PatchU4(size_t at, uint32_t value) { StoreU4(bytes_.data() + at, value); }

 private:
  uint8_t* Grow(size_t n) {
    bytes_.resize(bytes_.size() + n);
    return bytes_.data() + bytes_.size() - n;
  }

  std::vector<uint8_t> bytes_;
};

inline std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace jtrace::classfile
