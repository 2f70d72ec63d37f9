// Fills the walker's VmLayout from the JVM's tables.
#pragma once

#include <jni.h>

#include <cstdint>

#include "absl/status/status.h"
#include "agent/hot/memory/safe_read.h"
#include "agent/hot/walk/vm_layout.h"
#include "agent/hotspot/stub_registry.h"
#include "agent/hotspot/vm_structs.h"

namespace jtrace::sampling {

// Symbols that only .symtab of libjvm has: addresses, 0 if it is stripped. Reading them takes a few
// milliseconds, so the session may do it early on a separate thread.
struct LocalSymbols {
  hot::SafeFetchFunction safe_fetch = nullptr;
  uintptr_t continuation_return_barrier = 0;  // address of the variable
};
LocalSymbols ReadLocalSymbols(const char* libjvm_path, uintptr_t load_address);

// Fills `layout`; the code cache must exist (VMInit or later). Fields that a JVM version lacks stay
// kAbsent; an error if one is missing that every Java walk needs.
absl::Status ResolveVmLayout(const VmStructs& structs, const LocalSymbols& symbols,
                             hot::VmLayout* layout);

// JNIEnv* minus JavaThread*: the current thread's Thread.eetop is its JavaThread.
absl::Status ResolveJniEnvOffset(JNIEnv* env, hot::VmLayout* layout);

// Whether a jmethodID is the address of a pointer to its Method, as up to JDK 25: by one of
// java.lang.Object's. Since JDK 26 ids are numbers. On a Java thread.
bool IdsPointToMethods(JNIEnv* env, const hot::VmLayout& layout);

// Adds the template interpreter's codelets, which the JVM reports only as one piece. False: they
// cannot be read.
bool AddInterpreterCodelets(const VmStructs& structs, StubRegistry* stubs);

}  // namespace jtrace::sampling
