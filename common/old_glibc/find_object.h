// _dl_find_object(3) of the C library 2.35, for libgcc's unwinder in products that also run on
// older ones.

#pragma once

namespace jtrace {

// The start of struct dl_find_object of <dlfcn.h> on x86-64, where libgcc_eh reads it.
struct ObjectOfCode {
  unsigned long long flags;
  void* begin;  // of the object's first segment
  void* end;    // of its last one
  void* link_map;
  void* eh_frame_header;  // its segment PT_GNU_EH_FRAME
  unsigned long long reserved[7];
};

// Finds the loaded object whose segments contain `code`; -1 if there is none, or if it has no
// unwind tables. For threads in ordinary code: it takes the loader's lock.
int FindObjectOfCode(void* code, ObjectOfCode* found);

}  // namespace jtrace
