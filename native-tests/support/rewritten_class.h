// A rewritten class with its first method parsed.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "agent/calls/classfile/class_rewriter.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "native-tests/support/class_builder.h"

namespace jtrace::test {

struct RewrittenClass {
  classfile::RewriteResult result;
  classfile::ClassFile file;
  classfile::CodeAttribute code;

  // The rewriter's result; fails the test if the first method has no probes. `file` and `code`
  // point into `result`, so the object must not move.
  void TakeApart(absl::StatusOr<classfile::RewriteResult> rewritten) {
    ASSERT_TRUE(rewritten.ok()) << rewritten.status();
    result = *std::move(rewritten);
    ASSERT_FALSE(result.bytes.empty()) << Describe(outcome().reason).name;
    auto parsed = classfile::ParseClassFile(result.bytes);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    file = *std::move(parsed);
    const classfile::MethodInfo& method = file.methods[0];
    const classfile::Bytes all(result.bytes);
    ASSERT_TRUE(
        code.Parse(all.subspan(method.code_begin, method.code_end - method.code_begin), file.pool));
  }

  const classfile::MethodOutcome& outcome() const { return result.methods[0]; }
  ByteVector Code() const { return {code.code.begin(), code.code.end()}; }
  ByteVector Slice(size_t at, size_t size) const {
    const classfile::Bytes slice = code.code.subspan(at, size);
    return {slice.begin(), slice.end()};
  }
  // The constant that names this method of the probes; 0 if there is none.
  uint16_t Probe(std::string_view name) const {
    for (uint16_t i = 1; i < file.pool.count(); ++i) {
      const auto method = file.pool.Method(i);
      if (method && method->name == name && method->class_name.ends_with("JTraceProbe")) return i;
    }
    return 0;
  }
};

inline uint8_t High(uint16_t v) { return static_cast<uint8_t>(v >> 8); }
inline uint8_t Low(uint16_t v) { return static_cast<uint8_t>(v); }

}  // namespace jtrace::test
