// The build id of an ELF file (NT_GNU_BUILD_ID), which distinguishes this build of it from all
// others. Pure; any thread, not in signal handlers.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace jtrace {

// In the notes of a segment or section, whose alignment pads each note's parts; empty: there is
// none.
std::string_view FindBuildId(std::string_view notes, uint64_t alignment);

// Of an object that is mapped with these program headers, `bias` above the addresses in them. Looks
// only at notes that a readable segment holds. The result lies in the mapped memory.
std::string_view FindMappedBuildId(absl::Span<const Elf64_Phdr> headers, uintptr_t bias);

}  // namespace jtrace
