// Fuzz target of ELF files: symbols, build ids, imports and unwind tables (DWARF call frame
// information) as jtrace-post reads them in the modules that a trace names, and symbols as the
// agent reads them in loaded libraries.
//
// For any input: what is found lies in the file or in its segments, and holds what was asked for;
// what is not known has no name.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "agent/hotspot/elf_file.h"
#include "agent/hotspot/elf_symbols.h"
#include "native-tests/fuzz/require.h"
#include "postproc/model/elf_functions.h"
#include "postproc/reader/native_symbols.h"

namespace jtrace::fuzz {
namespace {

using postproc::ElfCall;
using postproc::ElfFunction;
using postproc::ElfFunctions;
using postproc::NativeSymbols;
using postproc::TraceModel;

constexpr size_t kMostPlaces = 128;

// So many places, far apart, that every function of a small file is met.
size_t Stride(std::string_view file) { return std::max<size_t>(1, file.size() / kMostPlaces); }

bool IsInside(std::string_view file, std::string_view part) {
  return part.empty() ||
         (part.data() >= file.data() && part.data() + part.size() <= file.data() + file.size());
}

void CheckFunctions(std::string_view file) {
  auto functions = ElfFunctions::Parse(file);
  if (!functions.ok()) return Require(IsOneLine(functions.status().message()));
  Require(IsInside(file, functions->image().build_id()));
  for (uint64_t offset = 0; offset < file.size(); offset += Stride(file)) {
    const auto address = functions->image().AddressOf(offset);
    if (!address.has_value()) continue;
    Require(functions->image().FileOffsetOf(*address).has_value());
    Require(IsInside(file, functions->image().BytesAt(*address)));
    const ElfFunction function = functions->At(*address);
    Require(function.start <= *address && IsInside(file, function.symbol));
    Require(function.start != 0 || function.symbol.empty() || *address == 0);
    postproc::Demangle(function.symbol);
    const ElfCall call = functions->CallBefore(*address);
    Require(IsInside(file, call.import));
    functions->IsPartOf(function, call.function);
    const ElfFunction exported = functions->Exported(call.import);
    Require(exported.start != 0 || exported.symbol.empty());
    functions->IsPartOf(function, exported);
  }
}

// The file as a module of a trace: at 1 MB, from its begin.
void CheckModule(const std::string& path, std::string_view file) {
  constexpr uint64_t kBegin = 1 << 20;
  TraceModel model;
  NativeSymbols symbols(/*read_files=*/true);
  symbols.AddModule(kBegin, kBegin + file.size(), 0, path, "", 0);
  symbols.Seal();
  NativeSymbols::Found callee;
  for (uint64_t offset = 0; offset < file.size(); offset += Stride(file)) {
    const auto found = symbols.At(kBegin + offset, offset % 2 == 0, 0, model);
    Require(found.frame.value != 0);
    Require(found.place != nullptr || offset == 0);  // a return address at the begin is before it
    Require(!model.FrameText(found.frame).empty());
    if (callee.place != nullptr && found.place != nullptr) {
      symbols.TailCaller(*callee.place, *found.place, model);
    }
    if (offset % 5 == 0) callee = found;
  }
}

void CheckAgent(const std::string& path, std::string_view content) {
  const sampling::ElfFile file(path);
  Require(file.BuildId().size() <= content.size());
  std::string name;
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    file.ForEachSymbol(type, [&](sampling::ElfFile::Name text, const Elf64_Sym& symbol) {
      Require(text.left > 0 && text.left <= content.size() && symbol.st_shndx != SHN_UNDEF);
      const size_t size = strnlen(text.text, text.left);
      if (name.empty() && size < text.left) name.assign(text.text, size);
    });
  }
  const std::string_view names[] = {"no such name", name};
  Require(sampling::FindElfSymbols(path, names).size() == std::size(names));
}

}  // namespace
}  // namespace jtrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jtrace::fuzz;  // NOLINT: a fuzz target
  static const NamelessFile file;
  const std::string_view content = View(data, size);
  file.Hold(content);
  CheckFunctions(content);
  CheckModule(file.path(), content);
  CheckAgent(file.path(), content);
  return 0;
}
