// Padding in java.lang.Thread objects, where the probes keep the address of the thread's state.
#pragma once

#include <jvmti.h>

#include <cstdint>

namespace jtrace::calls {

// Offset of eight bytes in every java.lang.Thread object that belong to no field, or 0.
//
// On JDK 17 the fields of ThreadLocalRandom in Thread are @Contended: 128 bytes of padding keep
// them away from the other fields. The JVM zeroes them with the object, copies them with it and
// never looks at them, so a thread's state is found there with one load. Later JDKs lay Thread out
// without padding (and -XX:-EnableContended does): they find the state through the thread's id.
// In VMInit; leaves no Java exception pending.
uint64_t FindThreadSpare(jvmtiEnv* jvmti, JNIEnv* jni);

}  // namespace jtrace::calls
