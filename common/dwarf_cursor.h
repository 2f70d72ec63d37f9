// Reads the encodings of .eh_frame and .eh_frame_hdr. Safe in signal handlers: no allocation, no
// exception, no function of a library but memcpy and memchr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace jtrace {

// A bounded cursor over bytes that nobody has checked. Past the end it fails for good: ok() turns
// false and every read returns 0. (DWARF 5 §7.6 for LEB128, LSB §10.5 for the pointer encodings.)
class DwarfCursor {
 public:
  // Bytes at the address at which they are used. An end before the begin is that of a damaged
  // table: there are none.
  DwarfCursor(const std::byte* begin, const std::byte* end)
      : at_(begin), end_(end < begin ? begin : end), ok_(end >= begin) {}
  // Bytes of a file, which are loaded at `address`.
  DwarfCursor(std::string_view bytes, uint64_t address)
      : at_(reinterpret_cast<const std::byte*>(bytes.data())),
        end_(at_ + bytes.size()),
        bias_(address - reinterpret_cast<uintptr_t>(at_)) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == end_; }
  const std::byte* position() const { return at_; }
  // Where the next byte is loaded.
  uint64_t address() const { return reinterpret_cast<uintptr_t>(at_) + bias_; }

  template <typename T>
  T Fixed() {
    T value{};
    if (!Has(sizeof(T))) return value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  uint8_t Byte() { return Fixed<uint8_t>(); }

  uint64_t Uleb() {
    uint64_t value = 0;
    for (int shift = 0; shift < kMostLebBits; shift += 7) {
      const uint8_t byte = Byte();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    Fail();
    return 0;
  }

  int64_t Sleb() {
    uint64_t value = 0;
    for (int shift = 0; shift < kMostLebBits; shift += 7) {
      const uint8_t byte = Byte();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) != 0) continue;
      if (shift + 7 < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    Fail();
    return 0;
  }

  // The bytes up to a 0, which is skipped; fails where there is none.
  std::string_view Text() {
    const auto* text = reinterpret_cast<const char*>(at_);
    const void* zero = AtEnd() ? nullptr : std::memchr(at_, 0, static_cast<size_t>(end_ - at_));
    if (zero == nullptr) {
      Fail();
      return {};
    }
    at_ = static_cast<const std::byte*>(zero) + 1;
    return {text, static_cast<size_t>(static_cast<const char*>(zero) - text)};
  }

  // A pointer in DW_EH_PE encoding, absolute or relative to its own address; 0 for DW_EH_PE_omit.
  // Fails on every other base, and on DW_EH_PE_indirect.
  uint64_t Pointer(uint8_t encoding) {
    constexpr uint8_t kOmit = 0xff;
    constexpr uint8_t kBaseMask = 0xf0;
    constexpr uint8_t kAbsolute = 0x00;
    constexpr uint8_t kPcRelative = 0x10;
    if (encoding == kOmit) return 0;
    const uint64_t here = address();
    const uint64_t value = Value(encoding);
    const int base = encoding & kBaseMask;
    if (base != kAbsolute && base != kPcRelative) Fail();
    return base == kPcRelative ? here + value : value;
  }

  // The same without its base: a size, for example.
  uint64_t Value(uint8_t encoding) {
    constexpr uint8_t kFormatMask = 0x0f;
    switch (encoding & kFormatMask) {
      case 0x00:  // DW_EH_PE_absptr
      case 0x04:  // DW_EH_PE_udata8
      case 0x0c:  // DW_EH_PE_sdata8
        return Fixed<uint64_t>();
      case 0x01:  // DW_EH_PE_uleb128
        return Uleb();
      case 0x02:  // DW_EH_PE_udata2
        return Fixed<uint16_t>();
      case 0x03:  // DW_EH_PE_udata4
        return Fixed<uint32_t>();
      case 0x09:  // DW_EH_PE_sleb128
        return static_cast<uint64_t>(Sleb());
      case 0x0a:  // DW_EH_PE_sdata2
        return static_cast<uint64_t>(int64_t{Fixed<int16_t>()});
      case 0x0b:  // DW_EH_PE_sdata4
        return static_cast<uint64_t>(int64_t{Fixed<int32_t>()});
      default:
        Fail();
        return 0;
    }
  }

  void Skip(uint64_t size) {
    if (Has(size)) at_ += size;
  }

  // A cursor over the next `size` bytes, which are skipped here. It has failed if they are not
  // there.
  DwarfCursor Block(uint64_t size) {
    DwarfCursor block = *this;
    Skip(size);
    block.ok_ = ok_;
    block.end_ = ok_ ? at_ : block.at_;
    return block;
  }

 private:
  static constexpr int kMostLebBits = 70;  // ten bytes

  bool Has(uint64_t size) {
    if (ok_ && size <= static_cast<uint64_t>(end_ - at_)) return true;
    Fail();
    return false;
  }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  const std::byte* at_;
  const std::byte* end_;
  uint64_t bias_ = 0;  // from the place of a byte here to where it is loaded
  bool ok_ = true;
};

}  // namespace jtrace
