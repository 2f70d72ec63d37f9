#include "postproc/model/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

// What libiberty's demangle.h declares; its header clashes with the standard library's
// (ansidecl.h).
extern "C" char* rust_demangle(const char* mangled, int options);

namespace jtrace::postproc {
namespace {

constexpr int kPlainNames = 0;  // without the crates' hashes

struct Free {
  void operator()(char* text) const { std::free(text); }
};
using CText = std::unique_ptr<char, Free>;

// "_RNv…", or the older "_ZN…17h<16 hex digits>E", which would pass as C++.
bool MayBeRust(std::string_view name) {
  if (name.starts_with("_R")) return true;
  const size_t hash = name.rfind("17h");
  return hash != std::string_view::npos && name.substr(hash).starts_with("17h") &&
         name.size() >= hash + 20 && name[hash + 19] == 'E';
}

}  // namespace

std::string Demangle(std::string_view name) {
  std::string text(name);
  if (!name.starts_with("_Z") && !name.starts_with("_R")) return text;
  if (MayBeRust(name)) {
    const CText rust(rust_demangle(text.c_str(), kPlainNames));
    if (rust != nullptr) return rust.get();
  }
  int status = 0;
  const CText demangled(abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status));
  return status == 0 && demangled != nullptr ? std::string(demangled.get()) : text;
}

}  // namespace jtrace::postproc
