// Fuzz target of the reader of binary traces and of the reports' sums.
//
// The first byte chooses: 'c' chunks without the frame level (each two bytes of length, then the
// chunk), 'p' the same, put into frames and read as a file by several threads, 'f' a whole file. So
// the checksums of the frames do not reject mutations.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "native-tests/fuzz/report_stages.h"
#include "native-tests/support/trace_builder.h"
#include "postproc/reader/chunk_emitter.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/trace_reader.h"

namespace {

using namespace jtrace::postproc;  // NOLINT: a fuzz target

// The next of several pieces of bytes, each after two bytes of length. Empty at their end.
std::string_view TakePiece(std::string_view& bytes) {
  if (bytes.size() <= 2) return {};
  const size_t size = static_cast<unsigned char>(bytes[0]) |
                      static_cast<size_t>(static_cast<unsigned char>(bytes[1])) << 8;
  const std::string_view piece = bytes.substr(2, size);
  bytes.remove_prefix(2 + piece.size());
  return piece;
}

void ReadChunks(std::string_view bytes) {
  std::deque<std::string> payloads;  // that the chunks' logs point into
  std::vector<ChunkPayload> chunks;
  while (bytes.size() > 2 && chunks.size() < 8) {
    ChunkPayload parsed;
    if (parsed.Parse(payloads.emplace_back(TakePiece(bytes))) == ChunkPayload::Result::kOk) {
      chunks.push_back(std::move(parsed));
    }
  }
  jtrace::fuzz::ReportStages stages;
  stages.model().AddTrace("c");
  WorkBudget budget(bytes.size());
  Definitions definitions(/*raw_names=*/false, /*read_files=*/false, budget, stages.model(),
                          stages.stats());
  for (const ChunkPayload& chunk : chunks) definitions.AddChunk(chunk);
  definitions.Finish(0);
  ChunkEmitter emitter(definitions, stages.model(), stages.stats(), stages.visitor());
  for (const ChunkPayload& chunk : chunks) {
    ChunkPlan plan;
    plan.Make(chunk);
    emitter.Emit(chunk, plan);
  }
  emitter.EmitTrees();
  stages.Check();
}

// No symbol files: the input must not choose which files are opened.
void ReadFile(std::string_view bytes, int jobs) {
  jtrace::fuzz::ReportStages stages;
  ReadOptions options;
  options.read_files = false;
  options.jobs = jobs;
  options.least_run = {1, 0};
  if (ReadBinaryTrace(bytes, "f", options, stages.model(), stages.stats(), stages.visitor()).ok()) {
    stages.Check();
  }
}

void ReadFrames(std::string_view bytes) {
  std::string file = jtrace::testing::FileHeader();
  for (int i = 0; i < 8 && bytes.size() > 2; ++i) {
    file += jtrace::testing::MakeFrame(TakePiece(bytes));
  }
  ReadFile(file, 2);
}

void ReadOne(char form, std::string_view bytes) {
  switch (form) {
    case 'c':
      ReadChunks(bytes);
      break;
    case 'f':
      ReadFile(bytes, 1);
      break;
    case 'p':
      ReadFrames(bytes);
      break;
    default:
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    ReadOne(static_cast<char>(data[0]), {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const WorkBudget::Spent&) {  // as it should
  }
  return 0;
}
