// A JVM of which nothing is known, for samplers in programs without one.
#pragma once

#include "agent/jvm/hot_spot_internals.h"

namespace jtrace::samples {

// Lives until the program ends, because late handlers may use it.
inline jvm::HotSpotInternals& UnknownJvm() {
  static jvm::HotSpotInternals view;
  return view;
}

}  // namespace jtrace::samples
