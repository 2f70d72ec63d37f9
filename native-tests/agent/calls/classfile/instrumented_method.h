// A method with probes, taken apart for tests of the instrumenter.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/calls/classfile/class_rewriter.h"
#include "native-tests/support/class_builder.h"
#include "native-tests/support/rewritten_class.h"

namespace jtrace::test {

constexpr uint32_t kId = 7;

struct Rewritten : RewrittenClass {
  ByteVector Table(std::string_view name) const {
    for (const classfile::CodeSubAttribute& sub : code.attributes) {
      if (file.pool.Utf8(sub.name_index) == name) return {sub.body.begin(), sub.body.end()};
    }
    return {};
  }
};

inline void Apply(const ByteVector& bytes, Rewritten& out,
                  const classfile::ProbeSpec& spec = classfile::ProbeSpec::Tree(),
                  uint32_t id = kId) {
  out.TakeApart(classfile::RewriteClass(
      bytes, {.filter = classfile::ScopeFilter(),
              .spec = spec,
              .assign_id = [id](const classfile::MethodDeclaration&) { return id; }}));
}

}  // namespace jtrace::test
