#include "agent/hooks/object_functions.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "agent/hooks/cpp_name.h"
#include "agent/hooks/mapped_symbols.h"
#include "common/demangle.h"
#include "common/elf_image.h"
#include "common/glob.h"
#include "common/nearest.h"
#include "common/object_file.h"

namespace jtrace::hooks {
namespace {

using Visit = absl::FunctionRef<void(const char*, const Elf64_Sym&)>;

bool IsFunction(const Elf64_Sym& symbol) {
  const int type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_value != 0;
}

bool IsChosen(const Elf64_Sym& symbol) { return ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC; }

// Which of several implementations the loader chose for this processor; 0: it does not say.
uintptr_t Chosen(const LoadedObject& object, const char* symbol) {
  const ObjectHandle held = Hold(object);
  return held == nullptr ? 0 : reinterpret_cast<uintptr_t>(dlsym(held.get(), symbol));
}

void ForEachFunction(const LoadedObject& object, Visit visit) {
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

// What compilers split off a function, for what is done rarely: jumped to, never called.
bool IsColdPart(absl::string_view symbol) { return absl::StrContains(symbol, ".cold"); }

// What names functions, in any of their forms.
class Pattern {
 public:
  explicit Pattern(absl::string_view text)
      : text_(Normalized(text)),
        is_glob_(absl::StrContains(text, '*') || absl::StrContains(text, '?')),
        word_(is_glob_ ? "" : WordOfMangled(text_)) {}

  enum Fit { kNot, kByPattern, kByName };
  // Sets `name` to the demangled one if it fits.
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
  // What is certain before demangling, which takes long.
  bool MayMatch(absl::string_view symbol, bool is_mangled) const {
    return is_mangled && absl::StrContains(symbol, word_);
  }

  std::string text_;
  bool is_glob_;
  std::string word_;
};

// Each address once. Of several names the plain one: compilers add others behind a dot.
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

}  // namespace

std::vector<Function> FindFunctions(const LoadedObject& object, absl::string_view text) {
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
  // f(char const*) has a star, and is the name of one.
  std::vector<Function>& found = named.empty() ? fitting : named;
  SortByAddress(found);
  return std::move(found);
}

Function FunctionAt(const LoadedObject& object, uintptr_t address) {
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

std::string NearestFunction(const LoadedObject& object, absl::string_view wanted) {
  // Only names of about this length that begin alike: libjvm has 60,000.
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

uintptr_t ChosenElsewhere(const LoadedObject& object, absl::string_view wanted) {
  uintptr_t elsewhere = 0;
  ForEachFunction(object, [&](const char* symbol, const Elf64_Sym& entry) {
    if (elsewhere != 0 || !IsChosen(entry) || wanted != symbol) return;
    const uintptr_t address = Chosen(object, symbol);
    if (address != 0 && !object.HasCodeAt(address)) elsewhere = address;
  });
  return elsewhere;
}

}  // namespace jtrace::hooks
