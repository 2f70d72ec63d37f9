#include "postproc/parquet/hybrid.h"

#include <algorithm>

#include "postproc/parquet/thrift.h"

namespace jtrace::postproc::parquet {
namespace {

constexpr size_t kGroup =
    8;  // values that are packed together; a shorter run is not worth its header

size_t RunAt(absl::Span<const uint32_t> values, size_t begin) {
  size_t end = begin + 1;
  while (end < values.size() && values[end] == values[begin]) ++end;
  return end - begin;
}

void AppendRun(uint32_t value, size_t length, int bits, std::string& out) {
  AppendVarint(uint64_t{length} << 1, out);
  for (int shift = 0; shift < bits; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

// Groups of eight; the last one may have fewer.
void AppendGroups(absl::Span<const uint32_t> values, int bits, std::string& out) {
  if (values.empty()) return;
  const size_t groups = (values.size() + kGroup - 1) / kGroup;
  AppendVarint(uint64_t{groups} << 1 | 1, out);
  const size_t begin = out.size();
  AppendPacked(values, bits, out);
  out.resize(begin + groups * static_cast<size_t>(bits), '\0');
}

}  // namespace

int BitWidth(uint32_t greatest) { return greatest == 0 ? 0 : 32 - __builtin_clz(greatest); }

void AppendPacked(absl::Span<const uint32_t> values, int bits, std::string& out) {
  uint64_t pending = 0;
  int filled = 0;
  for (const uint32_t value : values) {
    pending |= uint64_t{value} << filled;
    for (filled += bits; filled >= 8; filled -= 8) {
      out.push_back(static_cast<char>(pending));
      pending >>= 8;
    }
  }
  if (filled > 0) out.push_back(static_cast<char>(pending));
}

void AppendHybrid(absl::Span<const uint32_t> values, int bits, std::string& out) {
  size_t packed = 0;  // values from here on are not yet written
  size_t at = 0;
  while (at < values.size()) {
    const size_t run = RunAt(values, at);
    // Groups are whole: a run fills up the group before it first.
    const size_t missing = (kGroup - (at - packed) % kGroup) % kGroup;
    if (run < missing + kGroup) {
      at += run;
      continue;
    }
    at += missing;
    AppendGroups(values.subspan(packed, at - packed), bits, out);
    AppendRun(values[at], run - missing, bits, out);
    at += run - missing;
    packed = at;
  }
  AppendGroups(values.subspan(packed), bits, out);
}

}  // namespace jtrace::postproc::parquet
