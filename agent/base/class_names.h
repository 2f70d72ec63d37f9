// Converts names of classes between the forms of class files, JVMTI and source code. Any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace jtrace {

inline absl::string_view Abseil(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view Std(absl::string_view text) { return {text.data(), text.size()}; }

// "java/lang/String" to "java.lang.String".
inline std::string DottedName(std::string_view internal_name) {
  std::string name(internal_name);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

// "java.lang.String" to "java/lang/String".
inline std::string InternalName(std::string_view dotted_name) {
  std::string name(dotted_name);
  std::replace(name.begin(), name.end(), '.', '/');
  return name;
}

// "Ljava/lang/String;" to "java.lang.String"; what is not the signature of a class stays as it is.
inline std::string BinaryName(std::string_view signature) {
  if (signature.size() < 2 || signature.front() != 'L' || signature.back() != ';') {
    return std::string(signature);
  }
  return DottedName(signature.substr(1, signature.size() - 2));
}

// Returns whether a signature ("Ljava/lang/invoke/JTraceProbe2;") is of a class that probes call.
inline bool IsProbeClass(absl::string_view signature) {
  return absl::StartsWith(signature, "Ljava/lang/invoke/JTrace");
}

}  // namespace jtrace
