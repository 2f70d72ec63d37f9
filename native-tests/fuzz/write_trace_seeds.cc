// Writes the seeds of trace_reader_fuzzer and jtxt_fuzzer into the folders of these names: a few
// random traces in each form. Usage: jtrace_write_trace_seeds CORPUS
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include "native-tests/support/random_log.h"
#include "native-tests/support/random_trace.h"
#include "postproc/reader/frame_scanner.h"

namespace {

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

// The forms 'c' and 'p': each chunk after two bytes of length.
std::string Chunks(char form, const std::string& trace) {
  std::string input(1, form);
  jtrace::postproc::FrameScanner scanner(trace);
  jtrace::postproc::FrameDecoder decoder;
  std::string payload;
  while (const auto frame = scanner.Next()) {
    if (!decoder.Decompress(*frame, payload) || payload.size() > UINT16_MAX) continue;
    input.push_back(static_cast<char>(payload.size() & 0xff));
    input.push_back(static_cast<char>(payload.size() >> 8));
    input.append(payload);
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: jtrace_write_trace_seeds CORPUS\n";
    return 1;
  }
  const std::string traces = std::string(argv[1]) + "/trace_reader/";
  const std::string jtxt = std::string(argv[1]) + "/jtxt/";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const std::string number = std::to_string(seed);
    Write(jtxt + "text" + number, jtrace::testing::RandomTextTrace(seed));
    const std::string binary = jtrace::testing::RandomBinaryTrace(seed);
    Write(traces + "chunks" + number, Chunks('c', binary));
    if (seed < 3) Write(traces + "file" + number, "f" + binary);
    if (seed < 3) Write(traces + "frames" + number, Chunks('p', binary));
    const jtrace::testing::RandomLog log = jtrace::testing::MakeRandomLog(seed);
    Write(traces + "log" + number, Chunks('c', log.binary));
    if (seed < 3) Write(traces + "logframes" + number, Chunks('p', log.binary));
    Write(jtxt + "logtext" + number, log.text);
  }
}
