#include "postproc/model/elf_functions.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/dwarf_cursor.h"
#include "common/elf_image.h"

namespace jtrace::postproc {
namespace {

// mov %rax,%rdi; mov $SYS_exit,%eax; syscall: what follows the call of the thread's function.
constexpr std::string_view kExitCall("\x48\x89\xc7\xb8\x3c\x00\x00\x00\x0f\x05", 10);
// mov $SYS_clone3,%eax; syscall
constexpr std::string_view kClone3Call("\xb8\xb3\x01\x00\x00\x0f\x05", 7);
// mov $-EINVAL,%eax: the function's first instruction.
constexpr std::string_view kClone3Begin("\xb8\xea\xff\xff\xff", 5);
constexpr uint64_t kMostBytes = 96;  // from the begin of the function to the call

std::optional<uint64_t> FindClone3(const ElfImage& image, uint64_t address) {
  if (address < kMostBytes || !image.BytesAt(address + 1).starts_with(kExitCall))
    return std::nullopt;
  const std::string_view before = image.BytesAt(address - kMostBytes).substr(0, kMostBytes);
  const size_t call = before.rfind(kClone3Call);
  const size_t begin = call == std::string_view::npos ? call : before.rfind(kClone3Begin, call);
  if (begin == std::string_view::npos) return std::nullopt;
  return address - kMostBytes + begin;
}

// Reads calls and jumps in an ELF file's x86-64 code.
using namespace std::string_view_literals;

constexpr std::string_view kCall = "\xe8"sv;
constexpr uint64_t kCallSize = 5;  // with the distance
// call *disp32(base,index): its second operand byte may look like a direct call.
constexpr std::string_view kIndirectCall = "\xff\x94"sv;
constexpr std::string_view kEndbr64 = "\xf3\x0f\x1e\xfa"sv;
constexpr std::string_view kBnd = "\xf2"sv;
constexpr std::string_view kJumpThrough = "\xff\x25"sv;

uint64_t SignExtended(int32_t distance) { return static_cast<uint64_t>(int64_t{distance}); }

// The target of the call before a return address, if that is a direct call (call rel32) to code.
std::optional<uint64_t> DirectCallTarget(const ElfImage& image, uint64_t return_address) {
  const std::string_view call = image.BytesAt(return_address - kCallSize);
  if (!call.starts_with(kCall)) return std::nullopt;
  if (image.BytesAt(return_address - kCallSize - 2).starts_with(kIndirectCall)) return std::nullopt;
  const auto distance = ReadAt<int32_t>(call, kCall.size());
  if (!distance.has_value()) return std::nullopt;
  const uint64_t target = return_address + SignExtended(*distance);
  return image.IsCode(target) ? std::optional(target) : std::nullopt;
}

// The slot that the code at `address` jumps through, if it does so first, as entries of a procedure
// linkage table do ([endbr64] [bnd] jmp *slot(%rip)).
std::optional<uint64_t> JumpSlot(const ElfImage& image, uint64_t address) {
  const std::string_view code = image.BytesAt(address);
  uint64_t at = 0;
  for (const std::string_view prefix : {kEndbr64, kBnd}) {
    if (code.substr(at).starts_with(prefix)) at += prefix.size();
  }
  if (!code.substr(at).starts_with(kJumpThrough)) return std::nullopt;
  const auto distance = ReadAt<int32_t>(code, at + kJumpThrough.size());
  if (!distance.has_value()) return std::nullopt;
  return address + at + kJumpThrough.size() + sizeof *distance + SignExtended(*distance);
}

constexpr std::string_view kSignalReturn = "__restore_rt";
constexpr std::string_view kClone3 = "clone3";

// "foo" of "foo.cold" and "foo.cold.12"; empty: the name is none of a rarely run part.
std::string_view ParentOfCold(std::string_view name) {
  constexpr std::string_view kCold = ".cold";
  const size_t at = name.rfind(kCold);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = name.substr(at + kCold.size());
  const bool is_numbered = rest.size() > 1 && rest[0] == '.' &&
                           rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return rest.empty() || is_numbered ? name.substr(0, at) : std::string_view();
}

}  // namespace

absl::StatusOr<ElfFunctions> ElfFunctions::Parse(std::string_view content) {
  absl::StatusOr<ElfImage> image = ElfImage::Parse(content);
  if (!image.ok()) return image.status();
  return ElfFunctions(*std::move(image));
}

ElfFunctions::ElfFunctions(ElfImage image)
    : image_(std::move(image)), symbols_(image_), unwind_(image_) {}

void ElfFunctions::AddSymbols(const ElfImage& debug) { symbols_.Add(debug); }

bool ElfFunctions::StartsThreads(const ElfFunction& function) {
  const std::string_view name = function.symbol.substr(
      std::min(function.symbol.find_first_not_of('_'), function.symbol.size()));
  return name == kClone3 || name == "clone";
}

ElfFunction ElfFunctions::At(uint64_t address) const {
  const ElfSymbols::Symbol* symbol = symbols_.Find(address);
  const bool is_certain = symbol != nullptr && symbol->size != 0;
  // The tables lie all over the file: they are read only where symbols do not do.
  const auto range = is_certain ? std::nullopt : unwind_.Find(image_, address);
  ElfFunction function;
  // A symbol without a size ends where another function begins.
  if (symbol != nullptr && (!range.has_value() || symbol->address >= range->start)) {
    function.start = symbol->address;
    function.symbol = symbol->name;
    function.is_signal_frame = symbol->name == kSignalReturn;
  } else if (range.has_value()) {
    function.start = range->start;
    function.is_signal_frame = range->is_signal_frame;
  }
  // A range of its own, without a symbol.
  if (const auto clone3 = function.symbol.empty() ? FindClone3(image_, address) : std::nullopt) {
    function.start = *clone3;
    function.symbol = kClone3;
  }
  return function;
}

ElfCall ElfFunctions::CallBefore(uint64_t return_address) {
  ElfCall call;
  const std::optional<uint64_t> target = DirectCallTarget(image_, return_address);
  if (!target.has_value()) return call;
  const ElfFunction function = At(*target);
  const std::optional<uint64_t> slot =
      function.symbol.empty() ? JumpSlot(image_, *target) : std::nullopt;
  if (slot.has_value()) {
    if (!imports_.has_value()) imports_.emplace(image_);
    call.import = imports_->NameOfSlot(*slot);
    if (!call.import.empty()) call.function = function;
  } else if (IsEntry(*target, function)) {
    // Else these bytes were not a call, or it enters a function in its middle.
    call.function = function;
  }
  return call;
}

bool ElfFunctions::IsEntry(uint64_t address, const ElfFunction& function) const {
  if (address == function.start) return true;
  const auto range = unwind_.Find(image_, address);
  return range.has_value() && range->start == address;
}

ElfFunction ElfFunctions::Exported(std::string_view name) const {
  const uint64_t address = FindExported(image_, name);
  return address == 0 ? ElfFunction() : At(address);
}

bool ElfFunctions::IsPartOf(const ElfFunction& code, const ElfFunction& other) const {
  if (code.start == other.start) return true;
  const auto range = unwind_.Find(image_, code.start);
  if (range.has_value() && other.start >= range->start && other.start < range->end) return true;
  const std::string_view parent = ParentOfCold(code.symbol);
  if (parent.empty()) return range.has_value() && range->is_fragment;
  const std::vector<uint64_t> parents = symbols_.Named(parent);
  return parents.empty() || std::find(parents.begin(), parents.end(), other.start) != parents.end();
}

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

namespace {

size_t LeadingUnderscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

ElfSymbols::ElfSymbols(const ElfImage& image) { Add(image); }

void ElfSymbols::Add(const ElfImage& image) {
  for (const uint32_t type : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
    image.ForEachSymbol(type, [this](std::string_view names, const Elf64_Sym& symbol) {
      AddSymbol(StringAt(names, 0), symbol);
    });
  }
  SortSymbols();
}

void ElfSymbols::AddSymbol(std::string_view name, const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  // Hand-written assembly often has no type.
  const bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
  if (!is_code || symbol.st_value == 0 || name.empty()) return;
  if (type == STT_NOTYPE && symbol.st_size == 0) return;
  symbols_.push_back(
      {symbol.st_value, symbol.st_size, name, static_cast<uint8_t>(ELF64_ST_BIND(symbol.st_info))});
}

void ElfSymbols::SortSymbols() {
  // Of several names for one address the one that people use: global before weak before local,
  // with a size, few leading underscores, short.
  const auto rank = [](const Symbol& symbol) {
    const int binding = symbol.binding == STB_GLOBAL ? 0 : symbol.binding == STB_WEAK ? 1 : 2;
    return std::tuple(symbol.size == 0, binding, LeadingUnderscores(symbol.name),
                      symbol.name.size(), symbol.name);
  };
  std::sort(symbols_.begin(), symbols_.end(), [&](const Symbol& a, const Symbol& b) {
    return a.address != b.address ? a.address < b.address : rank(a) < rank(b);
  });
  symbols_.erase(
      std::unique(symbols_.begin(), symbols_.end(),
                  [](const Symbol& a, const Symbol& b) { return a.address == b.address; }),
      symbols_.end());
}

const ElfSymbols::Symbol* ElfSymbols::Find(uint64_t address) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](uint64_t a, const Symbol& symbol) { return a < symbol.address; });
  if (after == symbols_.begin()) return nullptr;
  const Symbol& symbol = *std::prev(after);
  return symbol.size != 0 && address - symbol.address >= symbol.size ? nullptr : &symbol;
}

std::vector<uint64_t> ElfSymbols::Named(std::string_view name) const {
  std::vector<uint64_t> addresses;
  for (const Symbol& symbol : symbols_) {
    if (symbol.name == name) addresses.push_back(symbol.address);
  }
  return addresses;
}

namespace {

// Linkers make two: for data and for calls. More are read, but not as many as a file may claim.
constexpr int kMostRelocationTables = 8;

std::string_view BytesOf(const ElfImage& image, uint32_t section) {
  const auto& sections = image.sections();
  return section < sections.size() ? sections[section].bytes : std::string_view();
}

// A .gnu.hash section: 16 bytes, a filter of 64-bit words, buckets, and for each hashed symbol its
// hash, whose lowest bit ends the bucket's row.
class HashTable {
 public:
  explicit HashTable(std::string_view bytes) : bytes_(bytes) {}

  // Calls visit(index) for the symbols that may have this name.
  template <typename Visit>
  void ForEach(std::string_view name, Visit visit) const {
    constexpr uint64_t kHeaderSize = 16;
    const uint32_t buckets = Word(0);
    const uint32_t first_symbol = Word(4);
    const uint64_t at = kHeaderSize + uint64_t{Word(8)} * 8;
    if (buckets == 0) return;
    const uint32_t hash = Hash(name);
    uint64_t symbol = Word(at + hash % buckets * uint64_t{4});
    if (symbol < first_symbol || symbol == 0) return;
    const uint64_t hashes = at + buckets * uint64_t{4};
    while (true) {
      const std::optional<uint32_t> found =
          ReadAt<uint32_t>(bytes_, hashes + (symbol - first_symbol) * 4);
      if (!found.has_value()) return;
      if ((*found | 1) == (hash | 1)) visit(symbol);
      if ((*found & 1) != 0) return;
      ++symbol;
    }
  }

 private:
  uint32_t Word(uint64_t offset) const { return ReadAt<uint32_t>(bytes_, offset).value_or(0); }
  static uint32_t Hash(std::string_view name) {
    uint32_t hash = 5381;
    for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
    return hash;
  }

  std::string_view bytes_;
};

}  // namespace

ElfImports::ElfImports(const ElfImage& image) {
  int tables = 0;
  for (const ElfImage::Section& section : image.sections()) {
    if (section.type != SHT_RELA || section.link >= image.sections().size()) continue;
    const ElfImage::Section& symbols = image.sections()[section.link];
    if (symbols.type != SHT_DYNSYM || ++tables > kMostRelocationTables) continue;
    AddSlots(section.bytes, symbols.bytes, BytesOf(image, symbols.link));
  }
}

void ElfImports::AddSlots(std::string_view relocations, std::string_view symbols,
                          std::string_view names) {
  for (uint64_t left = relocations.size() / sizeof(Elf64_Rela); left-- > 0;) {
    const auto it = *ReadAt<Elf64_Rela>(relocations, left * sizeof(Elf64_Rela));
    const auto type = ELF64_R_TYPE(it.r_info);
    // Linkers put those without a name, mostly far more, in front of the others.
    if (type == R_X86_64_RELATIVE) return;
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
    const auto symbol =
        ReadAt<Elf64_Sym>(symbols, ELF64_R_SYM(it.r_info) * uint64_t{sizeof(Elf64_Sym)});
    if (!symbol.has_value()) continue;
    const std::string_view name = StringAt(names, symbol->st_name);
    if (!name.empty()) slots_.try_emplace(it.r_offset, name);
  }
}

std::string_view ElfImports::NameOfSlot(uint64_t address) const {
  const auto found = slots_.find(address);
  return found == slots_.end() ? std::string_view() : found->second;
}

uint64_t FindExported(const ElfImage& image, std::string_view name) {
  const auto& sections = image.sections();
  const auto table = std::find_if(sections.begin(), sections.end(),
                                  [](const auto& it) { return it.type == SHT_GNU_HASH; });
  if (table == sections.end() || table->link >= sections.size()) return 0;
  const ElfImage::Section& symbols = sections[table->link];
  const std::string_view names = BytesOf(image, symbols.link);
  std::optional<uint64_t> address;
  bool is_certain = true;
  HashTable(table->bytes).ForEach(name, [&](uint64_t index) {
    const auto it = ReadAt<Elf64_Sym>(symbols.bytes, index * sizeof(Elf64_Sym));
    if (!it.has_value() || StringAt(names, it->st_name) != name) return;
    const bool is_function = ELF64_ST_TYPE(it->st_info) == STT_FUNC;
    is_certain &= is_function && it->st_shndx != SHN_UNDEF;
    is_certain &= address.value_or(it->st_value) == it->st_value;
    address = it->st_value;
  });
  return is_certain ? address.value_or(0) : 0;
}

}  // namespace jtrace::postproc
