// How much of a stack a sample takes (stack=).
#pragma once

#include <cstdint>

namespace jtrace::hot {

// S1.1 to S1.4. Where the thread was in the kernel, the kernel's frames are part of its stack.
enum class StackMode : uint8_t {
  kFull,      // every frame
  kApp,       // the frames of the application: Java methods in scope
  kFrame,     // the topmost frame of the whole stack, inlined methods distinguished
  kAppFrame,  // the topmost frame of the application; no frame if it has none
  kPc,        // the program counter, named by the code there; no debug information is read
};

}  // namespace jtrace::hot
