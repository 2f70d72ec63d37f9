// Fuzz target of ELF files: symbols, build ids, imports and unwind tables (DWARF call frame
// information) as jtrace-post reads them in the modules that a trace names, and symbols as the
// agent reads them in loaded libraries.
//
// For any input: everything found is inside the file or its segments, and contains what was
// requested; unknown places have no name.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "agent/jvm/hotspot/elf_symbols.h"
#include "common/demangle.h"
#include "common/elf_image.h"
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

// The number of places, far apart, so that every function of a small file is visited.
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
    Demangle(function.symbol);
    const ElfCall call = functions->CallBefore(*address);
    Require(IsInside(file, call.import));
    functions->IsPartOf(function, call.function);
    const ElfFunction exported = functions->Exported(call.import);
    Require(exported.start != 0 || exported.symbol.empty());
    functions->IsPartOf(function, exported);
  }
}

// The file as a module of a trace: at 1 MB, from its beginning.
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
    Require(found.place != nullptr || offset == 0);  // else a return address at the start
    Require(!model.FrameText(found.frame).empty());
    if (callee.place != nullptr && found.place != nullptr) {
      symbols.TailCaller(*callee.place, *found.place, model);
    }
    if (offset % 5 == 0) callee = found;
  }
}

// The agent's part: symbols by name from the file at `path`.
void CheckAgent(const std::string& path, std::string_view content) {
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(content);
  std::string name;
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    if (!image.ok()) continue;
    image->ForEachSymbol(type, [&](std::string_view names, const Elf64_Sym& symbol) {
      Require(!names.empty() && IsInside(content, names) && symbol.st_shndx != SHN_UNDEF);
      const std::string_view text = StringAt(names, 0);
      if (name.empty() && text.size() < names.size()) name = text;
    });
  }
  const std::string_view names[] = {"no such name", name};
  Require(jvm::FindElfSymbols(path, names).size() == std::size(names));
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
