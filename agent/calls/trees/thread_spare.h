// Finds padding in java.lang.Thread objects, where probes keep the address of the thread's state.
#pragma once

#include <jvmti.h>

#include <cstdint>

namespace jtrace::calls {

// Returns the offset of 64 bytes in java.lang.Thread objects, eight for each ProbeSet, or 0.
//
// On JDK 17 the fields of ThreadLocalRandom in Thread are @Contended: 128 bytes of padding keep
// them away from the other fields. The JVM zeroes the padding with the object, copies it with it
// and never reads it, so probes find a thread's state there with one load. Later JDKs, and
// -XX:-EnableContended, have no padding: there probes find the state through the thread's id. In
// VMInit; leaves no Java exception pending.
uint64_t FindThreadPadding(jvmtiEnv* jvmti, JNIEnv* jni);

}  // namespace jtrace::calls
