// Reads the encodings of .eh_frame.
#ifndef JTRACE_AGENT_HOT_WALK_DWARF_READER_H_
#define JTRACE_AGENT_HOT_WALK_DWARF_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jtrace::hot {

// A bounded cursor over mapped unwind tables. Past the end it fails for good: ok() turns false and
// every read returns 0. (DWARF 5 §7.6 for LEB128, LSB §10.5 for the pointer encodings.)
class DwarfReader {
 public:
  DwarfReader(const std::byte* begin, const std::byte* end) : at_(begin), end_(end) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ >= end_ || !ok_; }
  const std::byte* position() const { return at_; }

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
    for (int shift = 0; shift < 70; shift += 7) {
      const uint8_t byte = Byte();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

  int64_t Sleb() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const uint8_t byte = Byte();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) != 0) continue;
      if (shift + 7 < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    ok_ = false;
    return 0;
  }

  // A pointer in DW_EH_PE encoding: absolute or pc-relative.
  uintptr_t Encoded(uint8_t encoding) {
    if (encoding == 0xff) return 0;  // DW_EH_PE_omit
    const auto here = reinterpret_cast<uintptr_t>(at_);
    const uintptr_t value = EncodedValue(encoding & 0x0f);
    switch (encoding & 0x70) {
      case 0x00:
        return value;
      case 0x10:
        return value + here;
      default:
        ok_ = false;
        return 0;
    }
  }

  void Skip(uint64_t bytes) {
    if (Has(bytes)) at_ += bytes;
  }
  // A reader of the next `bytes`, which are skipped here.
  DwarfReader Block(uint64_t bytes) {
    if (!Has(bytes)) return DwarfReader(end_, end_);
    const std::byte* begin = at_;
    at_ += bytes;
    return DwarfReader(begin, at_);
  }

 private:
  bool Has(uint64_t bytes) {
    if (ok_ && bytes <= static_cast<uint64_t>(end_ - at_)) return true;
    ok_ = false;
    at_ = end_;
    return false;
  }

  uintptr_t EncodedValue(uint8_t format) {
    switch (format) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return Fixed<uint64_t>();
      case 0x01:
        return Uleb();
      case 0x02:
        return Fixed<uint16_t>();
      case 0x03:
        return Fixed<uint32_t>();
      case 0x09:
        return static_cast<uintptr_t>(Sleb());
      case 0x0a:
        return static_cast<uintptr_t>(static_cast<intptr_t>(Fixed<int16_t>()));
      case 0x0b:
        return static_cast<uintptr_t>(static_cast<intptr_t>(Fixed<int32_t>()));
      default:
        ok_ = false;
        return 0;
    }
  }

  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_WALK_DWARF_READER_H_
