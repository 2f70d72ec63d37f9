// The encoding of values in a recording of Flight Recorder, version 2.1: integers with seven bits a
// byte, texts with a byte for their kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jtrace::postproc::jfr {

// Appends to `out`. 1 to 9 bytes: the ninth one has eight bits.
void AppendNumber(std::string& out, uint64_t value);
// Bytes that are not UTF-8 become U+FFFD.
void AppendText(std::string& out, std::string_view text);
// A text that is missing, which is not an empty one.
void AppendNoText(std::string& out);
// An event: its size, which includes the bytes of the size, and its fields.
void AppendEvent(std::string& out, std::string_view fields);

}  // namespace jtrace::postproc::jfr
