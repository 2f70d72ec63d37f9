// Addresses of local symbols: those in .symtab, which dlsym does not find.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace jtrace::jvm {

// The values of the symbols `names` in the ELF file `path`, in their order, relative to the address
// it is loaded at; 0 where there is no such symbol, and all 0 for a stripped or unreadable file.
std::vector<uint64_t> FindElfSymbols(const std::string& path,
                                     absl::Span<const std::string_view> names);

}  // namespace jtrace::jvm
