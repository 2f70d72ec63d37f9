// Traces with the counters of a class that tests make (blocks=on).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "common/classfile/opcodes.h"
#include "native-tests/support/class_builder.h"

namespace jtrace::testing {

inline std::string InHex(const test::ByteVector& bytes) {
  return std::string(absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
}

// LineNumberTable of these rows: bci, line.
inline test::TestMethod::Attribute LineNumbers(
    const std::vector<std::pair<uint16_t, uint16_t>>& rows) {
  test::BytesOf table;
  table.U2(static_cast<uint32_t>(rows.size()));
  for (const auto& [bci, line] : rows) table.U2(bci).U2(line);
  return {"LineNumberTable", table};
}

// static void m(): `if (0 == 0) nop; return`, with these line numbers.
inline test::TestMethod IfMethod(const std::vector<std::pair<uint16_t, uint16_t>>& lines,
                                 const std::string& name = "m") {
  test::TestMethod method;
  method.name = name;
  method.code = {3, classfile::kOpIfeq, 0, 4, classfile::kOpNop, classfile::kOpReturn};
  method.attributes = {LineNumbers(lines)};
  return method;
}

inline test::ByteVector BytesOfText(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace jtrace::testing
