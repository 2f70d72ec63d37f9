// The native methods of the JDK that read, write, connect and accept, and functions that take their
// place: they call the JDK's function and report the call.
//
// JNI passes a native method nothing of ours, so which functions were replaced, and who listens, is
// known to the whole process. Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "agent/io/io_call.h"

namespace jtrace::io {

struct IoNative {
  const char* class_name;  // "java/io/FileInputStream"
  const char* method;
  const char* descriptor;
  void* replacement;  // of the same type as the JDK's function
};

// Of all JDKs; a JDK has some of them.
std::span<const IoNative> IoNatives();

// The JDK's own function of a native, by its place in IoNatives; null: not known yet. To be set
// before its replacement can be called.
std::atomic<void*>& OriginalOf(size_t native);

// Whoever hears of calls from here on; null: no one. `slot`: 0 or 1. Calls that have begun may
// still reach the one before: listeners live as long as the process.
void SetListener(size_t slot, IoListener* listener);

// The library and the symbol of a native's function: "libnio.so", "Java_sun_nio_ch_Net_connect0".
std::string_view LibraryOf(const IoNative& native);
std::string SymbolOf(const IoNative& native);

}  // namespace jtrace::io
