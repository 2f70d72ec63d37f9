// Fills the walker's VmLayout from the JVM's tables.
#pragma once

#include <jni.h>

#include <cstdint>

#include "absl/status/status.h"
#include "agent/jvm/hotspot/stub_registry.h"
#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/samples/walk/vm_layout.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::jvm {

// Addresses of symbols that only .symtab of libjvm has; 0 if it is stripped. Reading them takes a
// few milliseconds.
struct LocalSymbols {
  signal_safe::SafeFetchFunction safe_fetch = nullptr;
  uintptr_t continuation_return_barrier = 0;  // address of the variable
};
LocalSymbols ReadLocalSymbols(const char* libjvm_path, uintptr_t load_address);

// Fills `layout`; the code cache must exist (VMInit or later). Fields that a JVM version lacks stay
// kAbsent; an error if one is missing that every Java walk needs.
absl::Status ResolveVmLayout(const VmStructs& structs, const LocalSymbols& symbols,
                             samples::VmLayout* layout);

// Sets thread.jni_env, JNIEnv* minus JavaThread*. The current thread's eetop is its JavaThread.
absl::Status ResolveJniEnvOffset(JNIEnv* env, samples::VmLayout* layout);

// Whether a jmethodID is the address of a pointer to its Method, as up to JDK 25; since JDK 26 ids
// are numbers. Tries it with a method of java.lang.Object. On a Java thread.
bool IdsPointToMethods(JNIEnv* env, const samples::VmLayout& layout);

// Adds the template interpreter's codelets, which the JVM reports only as one piece. False: they
// cannot be read.
bool AddInterpreterCodelets(const VmStructs& structs, StubRegistry* stubs);

}  // namespace jtrace::jvm
