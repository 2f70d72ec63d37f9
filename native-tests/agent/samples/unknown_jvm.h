// A JVM of which nothing is known, for samplers in programs without one.
#pragma once

#include "agent/jvm/jvm_view.h"

namespace jtrace::samples {

// Lives until the program ends, because late handlers may use it.
inline jvm::JvmView& UnknownJvm() {
  static jvm::JvmView view;
  return view;
}

}  // namespace jtrace::samples
