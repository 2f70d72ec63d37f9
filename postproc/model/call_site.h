// Reads calls and jumps in an ELF file's x86-64 code.
#pragma once

#include <cstdint>
#include <optional>

#include "common/elf_image.h"

namespace jtrace::postproc {

// The target of the call before a return address, if that is a direct call (call rel32) to code.
std::optional<uint64_t> DirectCallTarget(const ElfImage& image, uint64_t return_address);

// The slot that the code at `address` jumps through, if it does so first, as entries of a procedure
// linkage table do ([endbr64] [bnd] jmp *slot(%rip)).
std::optional<uint64_t> JumpSlot(const ElfImage& image, uint64_t address);

}  // namespace jtrace::postproc
