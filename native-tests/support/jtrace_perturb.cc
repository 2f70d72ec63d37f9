// Makes traces that differ as runs of one program on many hosts do: perturb_traces TRACE DIR FIRST
// COUNT HOSTS [SLOW]
//
// Trace number i is DIR/i.bin, of host web-(i modulo HOSTS), a process and a start of its own. The
// calls and times of each node are up to an eighth greater than in TRACE, and a tenth of the
// samples are missing, by hashes of i. On host number SLOW each sample has three times its weight.
// Everything else is that of TRACE.
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "native-tests/support/trace_builder.h"
#include "proto/trace.pb.h"
#include "proto/trace_format.h"

namespace jtrace::testing {
namespace {

constexpr uint64_t kSlowFactor = 3;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kFirstStart = 1'764'115'200 * kSecond;  // midnight

uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t hash = a * 0x9e3779b97f4a7c15U + b;
  hash = (hash ^ (hash >> 31)) * 0xbf58476d1ce4e5b9U;
  return hash ^ (hash >> 29);
}

uint32_t ReadU32(std::string_view bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::vector<proto::Chunk> ReadChunks(std::string_view trace) {
  std::vector<proto::Chunk> chunks;
  trace.remove_prefix(std::min(trace.size(), format::kFileHeaderSize));
  while (trace.size() > format::kFrameHeaderSize) {
    const size_t compressed = ReadU32(trace.substr(4));
    std::string payload(ReadU32(trace.substr(8)), '\0');
    trace.remove_prefix(format::kFrameHeaderSize);
    const size_t size = ZSTD_decompress(payload.data(), payload.size(), trace.data(),
                                        std::min(compressed, trace.size()));
    if (ZSTD_isError(size) != 0 || !chunks.emplace_back().ParseFromString(payload)) return {};
    trace.remove_prefix(compressed);
  }
  return chunks;
}

// A node's numbers grow by the same share in each chunk: they are totals.
void Grow(uint64_t trace, const google::protobuf::RepeatedField<int32_t>& numbers,
          google::protobuf::RepeatedField<uint64_t>& values) {
  uint64_t number = 0;
  for (int i = 0; i < values.size() && i < numbers.size(); ++i) {
    number += static_cast<uint64_t>(int64_t{numbers[i]});
    const uint64_t share = Mix(trace, number) % 1024;
    values[i] += values[i] / 8 * share / 1024 + values[i] % 8 * share / 8192;
  }
}

void PerturbSamples(uint64_t trace, bool is_slow, proto::Chunk& chunk) {
  google::protobuf::RepeatedPtrField<proto::Sample> kept;
  for (const proto::Sample& sample : chunk.sample()) {
    if (Mix(trace, sample.time_ns()) % 10 == 0) continue;
    proto::Sample& added = *kept.Add();
    added = sample;
    const uint64_t weight = sample.weight() == 0 ? 1 : sample.weight();
    if (is_slow) added.set_weight(static_cast<uint32_t>(weight * kSlowFactor));
  }
  *chunk.mutable_sample() = std::move(kept);
}

void Perturb(uint64_t trace, uint64_t hosts, int64_t slow, proto::Chunk& chunk) {
  const uint64_t host = trace % hosts;
  if (chunk.has_session_start()) {
    proto::SessionStart& start = *chunk.mutable_session_start();
    start.set_host("web-" + std::to_string(host));
    start.set_pid(static_cast<int64_t>(1000 + trace));
    start.set_unix_time_ns(kFirstStart + trace * kSecond);
  }
  if (chunk.has_session_end()) chunk.mutable_session_end()->clear_calls();
  for (proto::TreeDelta& delta : *chunk.mutable_tree()) {
    Grow(trace, delta.node(), *delta.mutable_calls());
    Grow(trace, delta.node(), *delta.mutable_jitted());
    Grow(trace, delta.node(), *delta.mutable_base_ns());
    Grow(trace, delta.node(), *delta.mutable_off_ns());
    Grow(trace, delta.node(), *delta.mutable_max_base_ns());
  }
  PerturbSamples(trace, static_cast<int64_t>(host) == slow, chunk);
}

}  // namespace
}  // namespace jtrace::testing

int main(int argc, char** argv) {
  using namespace jtrace::testing;
  if (argc < 6) {
    std::cerr << "usage: perturb_traces TRACE DIR FIRST COUNT HOSTS [SLOW]\n";
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::vector<jtrace::proto::Chunk> chunks = ReadChunks(bytes);
  if (chunks.empty()) {
    std::cerr << argv[1] << " is not a whole trace\n";
    return 2;
  }
  const uint64_t first = std::strtoull(argv[3], nullptr, 10);
  const uint64_t count = std::strtoull(argv[4], nullptr, 10);
  const uint64_t hosts = std::strtoull(argv[5], nullptr, 10);
  const int64_t slow = argc > 6 ? std::strtoll(argv[6], nullptr, 10) : -1;
  for (uint64_t i = first; i < first + count; ++i) {
    std::string trace = FileHeader();
    for (jtrace::proto::Chunk chunk : chunks) {
      Perturb(i, hosts, slow, chunk);
      trace += MakeFrame(chunk.SerializeAsString());
    }
    std::ofstream(std::string(argv[2]) + "/" + std::to_string(i) + ".bin", std::ios::binary)
        << trace;
  }
  return 0;
}
