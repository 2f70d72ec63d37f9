// Parquet's hybrid of run lengths and packed bits: definition levels and indexes into dictionaries.
#pragma once

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace jtrace::postproc::parquet {

// Bits that hold every number up to `greatest`; 0 for 0.
int BitWidth(uint32_t greatest);

// Each value has `bits` bits at most. At most 2^31 values.
void AppendHybrid(absl::Span<const uint32_t> values, int bits, std::string& out);

// `bits` bits of each value one after the other, the lowest first, filled up with zeros to a whole
// byte.
void AppendPacked(absl::Span<const uint32_t> values, int bits, std::string& out);

}  // namespace jtrace::postproc::parquet
