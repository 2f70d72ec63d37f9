#include "agent/jvm/hotspot/elf_symbols.h"

#include "absl/status/statusor.h"
#include "common/elf_image.h"
#include "common/object_file.h"

namespace jtrace::jvm {

std::vector<uint64_t> FindElfSymbols(const std::string& path,
                                     absl::Span<const std::string_view> names) {
  std::vector<uint64_t> values(names.size(), 0);
  const ObjectFile file(path);
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(file.content());
  if (!image.ok()) return values;
  image->ForEachSymbol(SHT_SYMTAB, [&](std::string_view text, const Elf64_Sym& symbol) {
    for (size_t i = 0; i < names.size(); ++i) {
      const size_t size = names[i].size();
      if (text.starts_with(names[i]) && text.size() > size && text[size] == 0) {
        values[i] = symbol.st_value;
      }
    }
  });
  return values;
}

}  // namespace jtrace::jvm
