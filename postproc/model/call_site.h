// Reads calls and jumps out of an ELF file's x86-64 code.
#pragma once

#include <cstdint>
#include <optional>

#include "postproc/model/elf_image.h"

namespace jtrace::postproc {

// What the call in front of a return address calls, if that is a direct call (call rel32) to code.
std::optional<uint64_t> DirectCallTarget(const ElfImage& image, uint64_t return_address);

// The slot that the code at `address` jumps through, if that is all it does first, as entries of a
// procedure linkage table do ([endbr64] [bnd] jmp *slot(%rip)).
std::optional<uint64_t> JumpSlot(const ElfImage& image, uint64_t address);

}  // namespace jtrace::postproc
