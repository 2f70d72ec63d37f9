#include "postproc/model/unwind_table.h"

#include <algorithm>

#include "common/dwarf_cursor.h"

namespace jtrace::postproc {
namespace {

// LSB §10.6.2: version and encodings that linkers write.
constexpr uint8_t kHeaderVersion = 1;
constexpr uint8_t kCountEncoding = 0x03;  // DW_EH_PE_udata4
constexpr uint8_t kTableEncoding = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4

struct Entry {
  int32_t function = 0;
  int32_t description = 0;
};

struct Cie {
  uint8_t pointer_encoding = 0;
  bool is_signal_frame = false;
};

// The record at `address`, behind its length; not ok if there is none.
DwarfCursor RecordAt(const ElfImage& image, uint64_t address) {
  DwarfCursor in(image.BytesAt(address), address);
  const auto length = in.Fixed<uint32_t>();
  // 0 ends the table; the greatest announces 64-bit records, which nobody writes here.
  return in.Block(length == 0 || length == 0xffff'ffff ? ~uint64_t{0} : length);
}

std::optional<Cie> ParseCie(DwarfCursor in) {
  if (in.Fixed<uint32_t>() != 0) return std::nullopt;
  const auto version = in.Byte();
  const std::string_view letters = in.Text();
  in.Uleb();  // code alignment
  in.Sleb();  // data alignment
  version == 1 ? in.Byte() : in.Uleb();
  if (!letters.starts_with('z')) return std::nullopt;
  DwarfCursor data = in.Block(in.Uleb());
  Cie cie;
  for (const char letter : letters.substr(1)) {
    if (letter == 'R') cie.pointer_encoding = data.Byte();
    if (letter == 'P') data.Value(data.Byte());
    if (letter == 'L') data.Byte();
    if (letter == 'S') cie.is_signal_frame = true;
  }
  return in.ok() && data.ok() ? std::optional(cie) : std::nullopt;
}

std::optional<UnwindRange> ParseFde(const ElfImage& image, uint64_t address) {
  DwarfCursor in = RecordAt(image, address);
  const uint64_t here = in.address();
  const auto back = in.Fixed<uint32_t>();
  const std::optional<Cie> cie = ParseCie(RecordAt(image, here - back));
  if (!cie.has_value() || back == 0) return std::nullopt;
  UnwindRange range;
  range.start = in.Pointer(cie->pointer_encoding);
  range.end = range.start + in.Value(cie->pointer_encoding);
  range.is_signal_frame = cie->is_signal_frame;
  in.Block(in.Uleb());
  // The instructions of an entry begin with the place of the first change, or there are none.
  const bool has_instructions = in.ok() && !in.AtEnd();
  const uint8_t first = has_instructions ? in.Byte() : 0;
  const bool is_advance = first >> 6 == 1 || (first >= 0x01 && first <= 0x04);
  range.is_fragment = first != 0 && !is_advance;
  return in.ok() ? std::optional(range) : std::nullopt;
}

}  // namespace

UnwindTable::UnwindTable(const ElfImage& image) {
  if (!image.unwind_header().has_value()) return;
  header_ = *image.unwind_header();
  const std::string_view bytes = image.BytesAt(header_);
  DwarfCursor in(bytes, header_);
  const auto version = in.Byte();
  const auto frames_encoding = in.Byte();
  const auto count_encoding = in.Byte();
  const auto table_encoding = in.Byte();
  in.Value(frames_encoding);
  const auto count = in.Fixed<uint32_t>();
  if (!in.ok() || version != kHeaderVersion || count_encoding != kCountEncoding ||
      table_encoding != kTableEncoding) {
    return;
  }
  const std::string_view table = bytes.substr(static_cast<size_t>(in.address() - header_));
  entries_ =
      table.substr(0, std::min<uint64_t>(count, table.size() / sizeof(Entry)) * sizeof(Entry));
}

std::optional<UnwindRange> UnwindTable::Find(const ElfImage& image, uint64_t address) const {
  const auto entry = [this](size_t i) { return *ReadAt<Entry>(entries_, i * sizeof(Entry)); };
  const auto start_of = [this](const Entry& it) {
    return header_ + static_cast<uint64_t>(int64_t{it.function});
  };
  size_t begin = 0;
  size_t end = entries_.size() / sizeof(Entry);
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (start_of(entry(middle)) <= address) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == 0) return std::nullopt;
  const Entry found = entry(begin - 1);
  const auto range = ParseFde(image, header_ + static_cast<uint64_t>(int64_t{found.description}));
  if (!range.has_value() || range->start != start_of(found)) return std::nullopt;
  return address >= range->start && address < range->end ? range : std::nullopt;
}

}  // namespace jtrace::postproc
