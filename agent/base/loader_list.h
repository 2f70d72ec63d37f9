// The loader's list of the objects of this process, copied.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace jtrace {

struct ListedObject {
  uintptr_t bias = 0;               // what is added to the file's addresses
  std::string name;                 // the loader's; "": the program
  std::vector<Elf64_Phdr> headers;  // as they were mapped
  std::string build_id;             // of what is mapped; "": it has none
};

// All objects, in the loader's order. Takes the loader's lock, not in handlers. Nothing is
// allocated while it is held: an allocator may unwind the stack, which takes that lock after its
// own.
std::vector<ListedObject> ListObjects();

}  // namespace jtrace
