// Reads the encodings of .eh_frame and .eh_frame_hdr from untrusted bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace jtrace::postproc {

// Past the end it fails for good: ok() turns false and every read gives 0. (DWARF 5 §7.6 for
// LEB128, LSB §10.5 for the pointer encodings.)
class DwarfCursor {
 public:
  // `bytes` are loaded at `address`.
  DwarfCursor(std::string_view bytes, uint64_t address) : left_(bytes), address_(address) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return left_.empty(); }
  uint64_t address() const { return address_; }

  template <typename T>
  T Fixed() {
    T value{};
    if (!Has(sizeof(T))) return value;
    std::memcpy(&value, left_.data(), sizeof(T));
    Advance(sizeof(T));
    return value;
  }

  // Of a signed number the low 64 bits; its sign is not asked for here.
  uint64_t Leb() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const auto byte = Fixed<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

  std::string_view Text() {
    const size_t size = left_.find('\0');
    if (size == std::string_view::npos) {
      Has(left_.size() + 1);
      return {};
    }
    return Take(size + 1).substr(0, size);
  }

  // A reader of the next `size` bytes, which are skipped here.
  DwarfCursor Block(uint64_t size) {
    const uint64_t begin = address_;
    DwarfCursor block(Has(size) ? Take(static_cast<size_t>(size)) : std::string_view(), begin);
    block.ok_ = ok_;
    return block;
  }

  // A pointer of DW_EH_PE encoding: absolute, or relative to where it stands.
  uint64_t Pointer(uint8_t encoding) {
    const uint64_t here = address_;
    const uint64_t value = Value(encoding);
    const int base = encoding & 0xf0;  // with DW_EH_PE_indirect
    if (base != 0x00 && base != 0x10) ok_ = false;
    return base == 0x10 ? here + value : value;
  }

  // The same without what it is relative to: a size.
  uint64_t Value(uint8_t encoding) {
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return Fixed<uint64_t>();
      case 0x02:
        return Fixed<uint16_t>();
      case 0x03:
        return Fixed<uint32_t>();
      case 0x0a:
        return static_cast<uint64_t>(int64_t{Fixed<int16_t>()});
      case 0x0b:
        return static_cast<uint64_t>(int64_t{Fixed<int32_t>()});
      default:
        ok_ = false;
        return 0;
    }
  }

 private:
  bool Has(uint64_t size) {
    if (ok_ && size <= left_.size()) return true;
    ok_ = false;
    left_ = {};
    return false;
  }
  void Advance(size_t size) {
    left_.remove_prefix(size);
    address_ += size;
  }
  std::string_view Take(size_t size) {
    const std::string_view bytes = left_.substr(0, size);
    Advance(size);
    return bytes;
  }

  std::string_view left_;
  uint64_t address_;
  bool ok_ = true;
};

}  // namespace jtrace::postproc
