#include "agent/hooks/loaded_objects.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/hooks/hook_spec.h"
#include "agent/sampling/elf_file.h"
#include "proto/nearest.h"

namespace jtrace::hooks {
namespace {

std::string MainProgram() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "";
}

int Collect(dl_phdr_info* info, size_t, void* into) {
  LoadedObject object;
  const bool is_main = info->dlpi_name == nullptr || info->dlpi_name[0] == 0;
  object.path = is_main ? MainProgram() : info->dlpi_name;
  object.name = object.path.substr(object.path.rfind('/') + 1);
  object.bias = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = object.bias + segment.p_vaddr;
    object.code.emplace_back(begin, begin + segment.p_memsz);
  }
  // The vdso is no file.
  if (absl::StrContains(object.path, '/')) {
    static_cast<std::vector<LoadedObject>*>(into)->push_back(std::move(object));
  }
  return 0;
}

std::string Demangle(const char* symbol) {
  if (symbol[0] != '_' || symbol[1] != 'Z') return symbol;
  int status = 0;
  char* const name = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  if (name == nullptr) return symbol;
  std::string copy = name;
  std::free(name);
  return copy;
}

// The demangled name up to its parameters: those in names of namespaces are none.
absl::string_view WithoutParameters(absl::string_view name) {
  constexpr absl::string_view kAnonymous = "(anonymous namespace)";
  constexpr absl::string_view kCall = "operator()";
  size_t at = 0;
  while ((at = name.find('(', at)) != absl::string_view::npos) {
    if (absl::StartsWith(name.substr(at), kAnonymous)) {
      at += kAnonymous.size();
    } else if (at >= kCall.size() - 2 &&
               name.substr(at - (kCall.size() - 2), kCall.size()) == kCall) {
      at += 2;
    } else {
      return name.substr(0, at);
    }
  }
  return name;
}

bool IsFunction(const Elf64_Sym& symbol) {
  const int type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_value != 0;
}

// Which of several implementations the loader chose for this processor; 0: it does not say.
uintptr_t Chosen(const LoadedObject& object, const char* symbol) {
  void* const handle = dlopen(object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  void* const address = dlsym(handle, symbol);
  dlclose(handle);
  return reinterpret_cast<uintptr_t>(address);
}

void ForEachFunction(const LoadedObject& object,
                     absl::FunctionRef<void(const char*, const Elf64_Sym&)> visit) {
  const sampling::ElfFile file(object.path);
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    file.ForEachSymbol(type, [&](sampling::ElfFile::Name name, const Elf64_Sym& symbol) {
      if (IsFunction(symbol) && memchr(name.text, 0, name.left) != nullptr)
        visit(name.text, symbol);
    });
  }
}

// What can stand in a name before demangling shows whether it is the one.
bool MayMatch(absl::string_view symbol, absl::string_view pattern) {
  if (!absl::StartsWith(symbol, "_Z")) return true;
  // The longest word of the pattern stands in the mangled name as it is.
  absl::string_view longest;
  size_t begin = 0;
  const auto is_word = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  for (size_t i = 0; i <= pattern.size(); ++i) {
    if (i < pattern.size() && is_word(pattern[i])) continue;
    if (i - begin > longest.size()) longest = pattern.substr(begin, i - begin);
    begin = i + 1;
  }
  return absl::StrContains(symbol, longest);
}

// What compilers split off a function, for what is done rarely: jumped to, never called.
bool IsColdPart(absl::string_view symbol) { return absl::StrContains(symbol, ".cold"); }

bool Matches(const char* symbol, absl::string_view pattern, std::string* name) {
  *name = symbol;
  if (IsColdPart(symbol)) return pattern == symbol;
  const bool is_glob = pattern.find_first_of("*?") != absl::string_view::npos;
  const auto fits = [&](absl::string_view text) {
    return is_glob ? MatchesGlob(pattern, text) : pattern == text;
  };
  if (!is_glob && !MayMatch(symbol, pattern)) return false;
  *name = Demangle(symbol);
  return fits(symbol) || fits(*name) || fits(WithoutParameters(*name));
}

}  // namespace

bool LoadedObject::HasCodeAt(uintptr_t address) const {
  return std::any_of(code.begin(), code.end(), [address](const auto& segment) {
    return address >= segment.first && address < segment.second;
  });
}

std::vector<LoadedObject> LoadedObjects() {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(&Collect, &objects);
  return objects;
}

std::vector<Function> FindFunctions(const LoadedObject& object, absl::string_view pattern) {
  std::vector<Function> found;
  ForEachFunction(object, [&](const char* text, const Elf64_Sym& symbol) {
    Function function;
    if (!Matches(text, pattern, &function.name)) return;
    function.symbol = text;
    function.address = object.bias + symbol.st_value;
    function.size = symbol.st_size;
    function.is_entry = !IsColdPart(text);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) {
      function.address = Chosen(object, text);
      function.size = 0;
    }
    if (object.HasCodeAt(function.address)) found.push_back(std::move(function));
  });
  // Of several names the plain one: compilers add others behind a dot.
  std::sort(found.begin(), found.end(), [](const Function& a, const Function& b) {
    return std::pair(a.address, a.symbol.size()) < std::pair(b.address, b.symbol.size());
  });
  found.erase(
      std::unique(found.begin(), found.end(),
                  [](const Function& a, const Function& b) { return a.address == b.address; }),
      found.end());
  return found;
}

Function FunctionAt(const LoadedObject& object, uintptr_t address) {
  Function at;
  ForEachFunction(object, [&](const char* text, const Elf64_Sym& symbol) {
    const uintptr_t begin = object.bias + symbol.st_value;
    if (address < begin || address >= begin + symbol.st_size || !at.symbol.empty()) return;
    at.address = begin;
    at.size = symbol.st_size;
    at.symbol = text;
    at.name = Demangle(text);
  });
  return at;
}

std::string NearestFunction(const LoadedObject& object, absl::string_view wanted) {
  // Only names of about this length that begin alike: libjvm has 60,000.
  std::vector<std::string> names;
  ForEachFunction(object, [&](const char* text, const Elf64_Sym&) {
    const absl::string_view symbol = text;
    if (!absl::StartsWith(symbol, wanted.substr(0, 2))) return;
    if (symbol.size() <= 2 * wanted.size()) names.emplace_back(symbol);
  });
  if (names.empty()) return "";
  return std::string(
      Nearest(wanted, names, [](const std::string& name) { return absl::string_view(name); }));
}

absl::Status Pin(const LoadedObject& object) {
  if (object.path == MainProgram()) return absl::OkStatus();
  // Its handle is kept.
  void* const handle = dlopen(object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  const link_map* map = nullptr;
  if (handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
      map->l_addr == object.bias) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(absl::StrCat(object.name, " was unloaded meanwhile"));
}

}  // namespace jtrace::hooks
