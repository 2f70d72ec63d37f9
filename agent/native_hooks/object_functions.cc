#include "agent/native_hooks/object_functions.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "agent/base/listed_objects.h"
#include "agent/native_hooks/cpp_name.h"
#include "common/demangle.h"
#include "common/elf_image.h"
#include "common/glob.h"
#include "common/nearest.h"
#include "common/object_file.h"

namespace jtrace::native_hooks {
namespace {

using Visit = absl::FunctionRef<void(const char*, const Elf64_Sym&)>;

bool IsFunction(const Elf64_Sym& symbol) {
  const int type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_value != 0;
}

bool IsChosen(const Elf64_Sym& symbol) { return ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC; }

// The implementation of an ifunc that the loader chose for this processor; 0: unknown.
uintptr_t Chosen(const LoadedDso& object, const char* symbol) {
  const ObjectHandle held = KeepLoaded(object);
  return held == nullptr ? 0 : reinterpret_cast<uintptr_t>(dlsym(held.get(), symbol));
}

void ForEachFunction(const LoadedDso& object, Visit visit) {
  const auto visit_functions = [&](const char* name, const Elf64_Sym& symbol) {
    if (IsFunction(symbol)) visit(name, symbol);
  };
  if (StateOfFile(object) != FileState::kSame) {
    ForEachMappedSymbol(object, visit_functions);
    return;
  }
  const ObjectFile file(ReadablePath(object));
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(file.content());
  if (!image.ok()) return;
  const auto visit_table = [&](uint32_t type) {
    image->ForEachSymbol(type, [&](std::string_view names, const Elf64_Sym& symbol) {
      const bool is_whole = names.find('\0') != std::string_view::npos;
      if (is_whole) visit_functions(names.data(), symbol);
    });
  };
  if (!object.IsLibc()) visit_table(SHT_SYMTAB);
  visit_table(SHT_DYNSYM);
}

// Whether it is the rarely executed part of a function, which is jumped to, never called.
bool IsColdPart(absl::string_view symbol) { return absl::StrContains(symbol, ".cold"); }

// A hook's pattern, which may match any form of a function's name.
class Pattern {
 public:
  explicit Pattern(absl::string_view text)
      : text_(Normalized(text)),
        is_glob_(absl::StrContains(text, '*') || absl::StrContains(text, '?')),
        word_(is_glob_ ? "" : WordOfMangled(text_)) {}

  enum Fit { kNot, kByPattern, kByName };
  // Sets `name` to the demangled name if it matches.
  Fit Matches(const char* symbol, std::string* name) const {
    if (text_ == symbol) {
      *name = Demangle(symbol);
      return kByName;
    }
    const bool is_mangled = absl::StartsWith(symbol, "_Z");
    if (IsColdPart(symbol) || (!is_glob_ && !MayMatch(symbol, is_mangled))) return kNot;
    *name = Demangle(symbol);
    const std::string normalized = Normalized(*name);
    const std::string plain(WithoutParameters(normalized));
    if (text_ == normalized || text_ == plain) return kByName;
    if (!is_glob_) return kNot;
    const bool fits =
        GlobMatches(text_, symbol) || GlobMatches(text_, normalized) || GlobMatches(text_, plain);
    return fits ? kByPattern : kNot;
  }

 private:
  // False: the symbol cannot match. Much faster than to demangle it.
  bool MayMatch(absl::string_view symbol, bool is_mangled) const {
    return is_mangled && absl::StrContains(symbol, word_);
  }

  std::string text_;
  bool is_glob_;
  std::string word_;
};

// Keeps each address once, with its shortest symbol: compilers append suffixes (".constprop.0").
void SortByAddress(std::vector<Function>& functions) {
  std::sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) {
    return std::tuple(a.address, a.symbol.size(), a.symbol) <
           std::tuple(b.address, b.symbol.size(), b.symbol);
  });
  functions.erase(
      std::unique(functions.begin(), functions.end(),
                  [](const Function& a, const Function& b) { return a.address == b.address; }),
      functions.end());
}

// The part of an object's memory that is readable according to its headers.
class Memory {
 public:
  Memory(const LoadedDso& object, const Elf64_Dyn* dynamic) : object_(object), dynamic_(dynamic) {}

  // The value of an entry of the dynamic section; 0: there is none.
  uint64_t Value(int64_t tag) const {
    for (const Elf64_Dyn* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == tag) return entry->d_un.d_val;
    }
    return 0;
  }
  // The same for addresses: glibc's loader has already added the bias, others do not.
  uintptr_t Address(int64_t tag) const {
    const uint64_t value = Value(tag);
    return value < object_.bias ? object_.bias + value : value;
  }
  // Returns `count` values at `address`; empty: not all of them are in the object.
  template <typename T>
  absl::Span<const T> At(uintptr_t address, uint64_t count) const {
    const auto holds = [&](const Elf64_Phdr& segment) {
      const uintptr_t begin = object_.bias + segment.p_vaddr;
      return segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 && address >= begin &&
             address - begin <= segment.p_memsz &&
             count <= (segment.p_memsz - (address - begin)) / sizeof(T);
    };
    if (address % alignof(T) != 0 ||
        std::none_of(object_.headers.begin(), object_.headers.end(), holds)) {
      return {};
    }
    return {reinterpret_cast<const T*>(address), static_cast<size_t>(count)};
  }

 private:
  const LoadedDso& object_;
  const Elf64_Dyn* dynamic_;
};

// DT_GNU_HASH ends with a chain for each bucket; the last element of a chain is odd.
uint64_t CountByGnuHash(const Memory& memory, uintptr_t table) {
  const auto header = memory.At<uint32_t>(table, 4);
  if (header.empty()) return 0;
  const uint64_t first = header[1];
  const uintptr_t buckets_at = table + 4 * sizeof(uint32_t) + header[2] * sizeof(uint64_t);
  const auto buckets = memory.At<uint32_t>(buckets_at, header[0]);
  if (buckets.empty()) return 0;
  uint64_t last = *std::max_element(buckets.begin(), buckets.end());
  if (last < first) return first;
  const uintptr_t chains = buckets_at + buckets.size() * sizeof(uint32_t);
  while (true) {
    const auto chain = memory.At<uint32_t>(chains + (last - first) * sizeof(uint32_t), 1);
    if (chain.empty()) return 0;
    ++last;
    if ((chain[0] & 1) != 0) return last;
  }
}

// The dynamic section has no number of symbols: it follows from a hash table. 0: unknown.
uint64_t CountSymbols(const Memory& memory) {
  if (memory.Value(DT_HASH) != 0) {
    const auto header = memory.At<uint32_t>(memory.Address(DT_HASH), 2);
    return header.empty() ? 0 : header[1];
  }
  if (memory.Value(DT_GNU_HASH) == 0) return 0;
  return CountByGnuHash(memory, memory.Address(DT_GNU_HASH));
}

constexpr char kProgram[] = "/proc/self/exe";
constexpr absl::string_view kDeleted = " (deleted)";  // what the kernel appends to a path

std::string ProgramPath() {
  char path[PATH_MAX];
  const ssize_t length = readlink(kProgram, path, sizeof path);
  if (length <= 0) return "";
  return std::string(absl::StripSuffix({path, static_cast<size_t>(length)}, kDeleted));
}

void Add(ListedDso listed, std::vector<LoadedDso>& objects) {
  LoadedDso object;
  object.is_program = listed.name.empty();
  object.path = object.is_program ? ProgramPath() : std::move(listed.name);
  // The vdso is not a file.
  if (!absl::StrContains(object.path, '/')) return;
  object.name = object.path.substr(object.path.rfind('/') + 1);
  object.bias = listed.bias;
  object.headers = std::move(listed.headers);
  object.build_id = std::move(listed.build_id);
  for (const Elf64_Phdr& segment : object.headers) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = object.bias + segment.p_vaddr;
    object.code.emplace_back(begin, begin + segment.p_memsz);
  }
  objects.push_back(std::move(object));
}

// Whether the file that is mapped at an address was deleted or replaced.
bool IsDeletedAt(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    if (address >= begin && address < end) return absl::EndsWith(line, kDeleted);
  }
  return false;
}

bool HasSameHeaders(const LoadedDso& object, std::string_view headers) {
  const size_t size = object.headers.size() * sizeof object.headers[0];
  return headers == std::string_view(reinterpret_cast<const char*>(object.headers.data()), size);
}

}  // namespace

std::vector<Function> FindFunctions(const LoadedDso& object, absl::string_view text) {
  const Pattern pattern(text);
  std::vector<Function> named;
  std::vector<Function> fitting;
  ForEachFunction(object, [&](const char* symbol, const Elf64_Sym& entry) {
    Function function;
    const Pattern::Fit fit = pattern.Matches(symbol, &function.name);
    if (fit == Pattern::kNot) return;
    function.symbol = symbol;
    function.address = object.bias + entry.st_value;
    function.size = entry.st_size;
    function.is_entry = !IsColdPart(symbol);
    if (IsChosen(entry)) {
      function.address = Chosen(object, symbol);
      function.size = 0;
    }
    if (!object.HasCodeAt(function.address)) return;
    (fit == Pattern::kByName ? named : fitting).push_back(std::move(function));
  });
  // A text such as f(char const*) has a star, but is the exact name of a function.
  std::vector<Function>& found = named.empty() ? fitting : named;
  SortByAddress(found);
  return std::move(found);
}

Function FunctionAt(const LoadedDso& object, uintptr_t address) {
  Function at;
  ForEachFunction(object, [&](const char* symbol, const Elf64_Sym& entry) {
    const uintptr_t begin = object.bias + entry.st_value;
    if (address < begin || address >= begin + entry.st_size || !at.symbol.empty()) return;
    at.address = begin;
    at.size = entry.st_size;
    at.symbol = symbol;
    at.name = Demangle(symbol);
  });
  return at;
}

std::string NearestFunction(const LoadedDso& object, absl::string_view wanted) {
  // Compares only names that begin alike and are not much longer: libjvm has 60,000.
  std::vector<std::string> names;
  ForEachFunction(object, [&](const char* text, const Elf64_Sym&) {
    const absl::string_view symbol = text;
    if (!absl::StartsWith(symbol, wanted.substr(0, 2)) || symbol == wanted) return;
    if (symbol.size() <= 2 * wanted.size()) names.emplace_back(symbol);
  });
  if (names.empty()) return "";
  return std::string(
      Nearest(wanted, names, [](const std::string& name) { return absl::string_view(name); }));
}

uintptr_t IfuncTargetElsewhere(const LoadedDso& object, absl::string_view wanted) {
  uintptr_t elsewhere = 0;
  ForEachFunction(object, [&](const char* symbol, const Elf64_Sym& entry) {
    if (elsewhere != 0 || !IsChosen(entry) || wanted != symbol) return;
    const uintptr_t address = Chosen(object, symbol);
    if (address != 0 && !object.HasCodeAt(address)) elsewhere = address;
  });
  return elsewhere;
}

void ForEachMappedSymbol(const LoadedDso& object,
                         absl::FunctionRef<void(const char*, const Elf64_Sym&)> visit) {
  const link_map* map = nullptr;
  const ObjectHandle held = KeepLoaded(object, &map);
  if (held == nullptr || map->l_ld == nullptr) return;
  const Memory memory(object, map->l_ld);
  const auto strings = memory.At<char>(memory.Address(DT_STRTAB), memory.Value(DT_STRSZ));
  for (const Elf64_Sym& symbol :
       memory.At<Elf64_Sym>(memory.Address(DT_SYMTAB), CountSymbols(memory))) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.size()) continue;
    const char* const name = &strings[symbol.st_name];
    if (std::memchr(name, 0, strings.size() - symbol.st_name) != nullptr) visit(name, symbol);
  }
}

bool LoadedDso::HasCodeAt(uintptr_t address) const {
  return std::any_of(code.begin(), code.end(), [address](const auto& segment) {
    return address >= segment.first && address < segment.second;
  });
}

bool LoadedDso::IsLibc() const {
  return absl::StartsWith(name, "libc.so") || absl::StartsWith(name, "libc-2.") ||
         absl::StartsWith(name, "libpthread.so") || absl::StartsWith(name, "libpthread-2.");
}

std::vector<LoadedDso> LoadedDsos() {
  std::vector<LoadedDso> objects;
  for (ListedDso& listed : ListDsos()) Add(std::move(listed), objects);
  return objects;
}

std::string ReadablePath(const LoadedDso& object) {
  return object.is_program ? kProgram : object.path;
}

FileState StateOfFile(const LoadedDso& object) {
  if (object.is_program) return FileState::kSame;
  const ObjectFile file(object.path);
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(file.content());
  if (!image.ok() || image->program_headers().empty()) {
    return access(object.path.c_str(), F_OK) == 0 ? FileState::kReplaced : FileState::kGone;
  }
  if (!object.build_id.empty()) {
    return image->build_id() == object.build_id ? FileState::kSame : FileState::kReplaced;
  }
  // Without a build id: another build may have equal headers, but then the old file was deleted.
  const bool is_same = HasSameHeaders(object, image->program_headers()) && !object.code.empty() &&
                       !IsDeletedAt(object.code.front().first);
  return is_same ? FileState::kSame : FileState::kReplaced;
}

void CloseObject::operator()(void* handle) const { dlclose(handle); }

ObjectHandle KeepLoaded(const LoadedDso& object, const link_map** map) {
  const char* const name = object.is_program ? nullptr : object.path.c_str();
  ObjectHandle handle(dlopen(name, RTLD_LAZY | RTLD_NOLOAD));
  const link_map* found = nullptr;
  if (handle == nullptr || dlinfo(handle.get(), RTLD_DI_LINKMAP, &found) != 0 ||
      found->l_addr != object.bias) {
    return nullptr;
  }
  if (map != nullptr) *map = found;
  return handle;
}

absl::Status Pin(const LoadedDso& object) {
  if (object.is_program) return absl::OkStatus();
  // The handle is never closed.
  void* const handle = dlopen(object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  const link_map* map = nullptr;
  if (handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
      map->l_addr == object.bias) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(absl::StrCat(object.name, " was unloaded meanwhile"));
}

}  // namespace jtrace::native_hooks
