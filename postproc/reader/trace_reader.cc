#include "postproc/reader/trace_reader.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "postproc/reader/chunk_emitter.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/frame_scanner.h"
#include "postproc/reader/loaded_chunk.h"
#include "postproc/support/ordered_workers.h"
#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

// With `running`, a cut tail is a frame that is being written.
void ReportDamage(const FrameDamage& damage, std::string_view file, bool running,
                  ImportStats& stats) {
  const std::string where = StrCat(file, ": first damage at byte ", damage.first_offset);
  if (damage.places > 0) stats.Add(Problem::kDamagedFrame, where, damage.places);
  if (damage.bad_payloads > 0) stats.Add(Problem::kDamagedChunk, where, damage.bad_payloads);
  if (damage.tail_bytes > 0 && !running) {
    stats.Add(Problem::kCutTail,
              StrCat(file, ": ", damage.tail_bytes, " bytes at the end belong to no whole frame"),
              static_cast<int64_t>(damage.tail_bytes));
  }
}

using ChunkWorkers = OrderedWorkers<LoadedChunk>;

size_t WeightOf(const LoadedChunk& chunk) { return chunk.frame.payload_size; }

// The first pass: finds a trace's frames and loads their chunks.
class ChunkFinder {
 public:
  ChunkFinder(std::string_view content, int jobs, ImportStats& stats)
      : scanner_(content),
        stats_(stats),
        workers_(
            jobs,
            [this](LoadedChunk& chunk) {
              const auto frame = scanner_.Next();
              if (frame.has_value()) chunk.frame = *frame;
              return frame.has_value();
            },
            [](LoadedChunk& chunk) { chunk.Load(); }, WeightOf) {}

  // The next whole chunk, valid until the next call; null at the end.
  const LoadedChunk* Next() {
    while (const LoadedChunk* chunk = workers_.Next()) {
      if (!IsWhole(*chunk) || !InSequence(*chunk)) continue;
      frames_.push_back(chunk->frame);
      return chunk;
    }
    return nullptr;
  }
  // After Next has returned null: what was passed over, and the frames of the chunks returned.
  FrameDamage damage() const {
    FrameDamage damage = scanner_.damage();
    for (const size_t offset : bad_payloads_) {
      damage.NoteOffset(offset);
      ++damage.bad_payloads;
    }
    return damage;
  }
  std::vector<TraceFrame> TakeFrames() { return std::move(frames_); }

 private:
  bool IsWhole(const LoadedChunk& chunk) {
    switch (chunk.result()) {
      case LoadedChunk::Result::kOk:
        return true;
      case LoadedChunk::Result::kBadPayload:
        bad_payloads_.push_back(chunk.frame.offset);
        break;
      case LoadedChunk::Result::kMalformed:
        stats_.Add(Problem::kDamagedChunk);
        break;
      case LoadedChunk::Result::kTooLarge:
        stats_.Add(Problem::kOversizedChunk);
        break;
    }
    return false;
  }
  bool InSequence(const LoadedChunk& chunk) {
    const uint64_t number = chunk.payload().chunk().sequence();
    if (number == 0) return true;  // written without numbers
    if (number <= last_sequence_) {
      stats_.Add(Problem::kRepeatedChunk);
      return false;
    }
    if (number != last_sequence_ + 1) {
      stats_.Add(Problem::kMissingChunk, {}, StreamTime(number - last_sequence_ - 1));
    }
    last_sequence_ = number;
    return true;
  }

  FrameScanner scanner_;  // the thread's that fetches
  ImportStats& stats_;
  uint64_t last_sequence_ = 0;
  std::vector<size_t> bad_payloads_;
  std::vector<TraceFrame> frames_;
  ChunkWorkers workers_;  // ends before what it uses
};

// The second pass: passes the chunks on. The definitions do not change while others read them, but
// for names that are made for what was never defined.
void EmitChunks(const std::vector<TraceFrame>& frames, const ReadOptions& options,
                const Definitions& definitions, ChunkEmitter& emitter,
                absl::FunctionRef<void(const TraceFrame&)> progress) {
  size_t next = 0;
  const bool reduce = options.jobs > 1 && options.reduce_calls;
  ChunkWorkers workers(
      options.jobs,
      [&](LoadedChunk& chunk) {
        if (next == frames.size()) return false;
        chunk.frame = frames[next++];
        return true;
      },
      [&](LoadedChunk& chunk) {
        chunk.Load();
        chunk.MakePlan();
        if (reduce) chunk.Reduce(definitions, options.least_run);
      },
      WeightOf);
  while (LoadedChunk* chunk = workers.Next()) {
    emitter.Emit(chunk->payload(), chunk->plan());
    progress(chunk->frame);
  }
}

}  // namespace

bool IsBinaryTrace(std::string_view content) {
  return content.starts_with(std::string_view(format::kMagic.data(), format::kMagic.size()));
}

absl::Status ReadBinaryTrace(std::string_view content, std::string_view file,
                             const ReadOptions& options, TraceModel& model, ImportStats& stats,
                             RecordVisitor& visitor) {
  if (absl::Status status = CheckFileHeader(content); !status.ok()) {
    return absl::Status(status.code(), StrCat(file, ": ", std::string(status.message())));
  }
  if (!model.SetUnit(TimeUnit::kNanoseconds)) {
    return absl::InvalidArgumentError(
        StrCat(file, ": its unit is ns, that of the traces before ", TimeUnitName(model.unit())));
  }
  const auto progress = [&](double done, double of) {
    if (options.progress != nullptr) options.progress(done / of);
  };
  const auto size = static_cast<double>(content.size());
  const auto trace = static_cast<uint32_t>(model.traces().size());
  model.AddTrace(std::string(file));

  Definitions definitions(options.raw_names, model, stats);
  std::vector<TraceFrame> frames;
  FrameDamage damage;
  {
    ChunkFinder finder(content, options.jobs, stats);
    while (const LoadedChunk* chunk = finder.Next()) {
      definitions.AddChunk(chunk->payload());
      definitions.AddSampleBytes(chunk->payload(), chunk->frame.payload_size, chunk->frame.size());
      progress(static_cast<double>(chunk->frame.offset), 2 * size);
    }
    damage = finder.damage();
    frames = finder.TakeFrames();
  }
  const bool running = !definitions.ended() && options.is_writing != nullptr &&
                       options.is_writing(definitions.pid());
  model.traces().back().running = running;
  ReportDamage(damage, file, running, stats);
  definitions.Finish(trace);

  ChunkEmitter emitter(definitions, model, stats, visitor);
  EmitChunks(frames, options, definitions, emitter, [&](const TraceFrame& frame) {
    progress(size + static_cast<double>(frame.offset), 2 * size);
  });
  emitter.EmitTrees();
  progress(1, 1);
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
