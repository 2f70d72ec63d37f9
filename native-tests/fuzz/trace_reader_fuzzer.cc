// Feeds both trace readers, the tree builder and the ELF reader with arbitrary bytes.
//
// The first byte chooses: 't' text trace (the header is put before), 'c' chunks without the frame
// level (each two bytes of length, then the chunk), 'p' the same, put into frames and read as a
// file by several threads, 'f' a whole binary file, 'e' an ELF file. So the checksums of the frames
// do not keep mutations out.
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "native-tests/support/trace_builder.h"
#include "postproc/calltree/arc_flow.h"
#include "postproc/calltree/flat_profile.h"
#include "postproc/calltree/hook_log.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/model/elf_functions.h"
#include "postproc/reader/chunk_emitter.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/record_filter.h"
#include "postproc/reader/text_reader.h"
#include "postproc/reader/trace_reader.h"
#include "postproc/samples/path_tree.h"

namespace {

using namespace jtrace::postproc;  // NOLINT: a fuzz target

// What a report needs, so that every stage runs.
class Stages {
 public:
  Stages() : builder_(MergeMode::kChain, false, model_, stats_) {}

  TraceModel& model() { return model_; }
  ImportStats& stats() { return stats_; }
  RecordVisitor& visitor() { return filter_; }

  // Aborts if an invariant does not hold: they must for every input.
  void Check() {
    builder_.Finish();
    const CallTree& tree = builder_.tree();
    const auto totals = tree.ComputeTotals();
    for (const std::string& name : MeasureNames(model_, tree)) {
      const Measure measure = ChooseMeasure(name, model_, tree);
      const FlatProfile flat(model_, tree, totals, measure);
      const ArcFlow arcs(tree, totals, flat, measure);
      if (arcs.Check().held() != 4) std::abort();
      const PathTree paths(model_, tree, measure.base);
      if (paths.total() != measure.whole) std::abort();
    }
    int64_t ticks = 0;
    for (const NodeId root : tree.roots()) ticks = WrapAdd(ticks, totals[root.value - 1].cum_ticks);
    if (ticks != builder_.merge_stats().ticks) std::abort();
    const PathTree paths(model_, samples_);
    if (paths.total() != TotalWeight(samples_)) std::abort();
  }

 private:
  TraceModel model_;
  ImportStats stats_;
  TreeBuilder builder_;
  SampleLog samples_;
  HookLog hooks_{/*by_thread=*/true};
  RecordFilter filter_{"", Scope::kFull, model_, {&builder_, &samples_, &hooks_}};
};

void ReadText(std::string_view lines) {
  Stages stages;
  const std::string trace = std::string("# jtrace-text 1 unit=ns\n").append(lines);
  if (ReadTextTrace(trace, "t", stages.model(), stages.stats(), stages.visitor()).ok()) {
    stages.Check();
  }
}

// The next of some pieces of bytes, each after two bytes of length. Empty at their end.
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
  Stages stages;
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

// No symbol files: the input must not choose what is opened.
void ReadFile(std::string_view bytes, int jobs) {
  Stages stages;
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

void ReadElf(std::string_view bytes) {
  auto functions = ElfFunctions::Parse(bytes);
  if (!functions.ok()) return;
  for (uint64_t offset = 0; offset < bytes.size(); offset += 7) {
    const auto address = functions->image().AddressOf(offset);
    if (!address.has_value()) continue;
    const ElfFunction function = functions->At(*address);
    Demangle(function.symbol);
    const ElfCall call = functions->CallBefore(*address);
    functions->IsPartOf(function, call.function);
    functions->IsPartOf(function, functions->Exported(call.import));
  }
}

void ReadOne(char form, std::string_view bytes) {
  switch (form) {
    case 't':
      ReadText(bytes);
      break;
    case 'c':
      ReadChunks(bytes);
      break;
    case 'f':
      ReadFile(bytes, 1);
      break;
    case 'p':
      ReadFrames(bytes);
      break;
    case 'e':
      ReadElf(bytes);
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
