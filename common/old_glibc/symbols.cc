// What GCC's static libraries of Debian 12 import from the C library and 2.31 does not have.
// Hidden: each product has its own.
#include "common/old_glibc/find_object.h"

extern "C" {

// 2.32: 1 would mean that reference counts need no atomic operations. That is never so here.
__attribute__((visibility("hidden"))) extern const char __libc_single_threaded;
const char __libc_single_threaded = 0;

// 2.35, for libgcc_eh.
__attribute__((visibility("hidden"))) int _dl_find_object(void* code, jtrace::ObjectOfCode* found) {
  return jtrace::FindObjectOfCode(code, found);
}
}
