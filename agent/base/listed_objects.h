// Copies the dynamic loader's list of the objects (program and libraries) of this process.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace jtrace {

struct ListedDso {
  uintptr_t bias = 0;               // what is added to the file's addresses
  std::string name;                 // the loader's; "": the program
  std::vector<Elf64_Phdr> headers;  // as they were mapped
  std::string build_id;             // of what is mapped; "": it has none
};

// Returns all objects, in the loader's order. Takes the loader's lock, so not in signal handlers.
// Allocates nothing while it holds that lock: an allocator may unwind the stack under its own lock,
// which takes the loader's lock second.
std::vector<ListedDso> ListDsos();

}  // namespace jtrace
