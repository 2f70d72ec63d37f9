#include "postproc/reader/trace_reader.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "postproc/reader/chunk_emitter.h"
#include "postproc/reader/chunk_payload.h"
#include "postproc/reader/chunk_plan.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/frame_scanner.h"
#include "postproc/reader/work_budget.h"
#include "postproc/support/ordered_workers.h"
#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

// Buffers are kept from chunk to chunk. One thread uses an object at a time.
class LoadedChunk {
 public:
  enum class Result {
    kOk,
    kBadPayload,  // cannot be decompressed
    kMalformed,
    kTooLarge,
  };

  TraceFrame frame;  // set first

  // Decompresses and parses the frame.
  void Load(ChunkPayload::Content content = ChunkPayload::Content::kAll);
  // Then: determines the order in which to pass it on.
  void MakePlan() { plan_.Make(payload_); }
  // Then: reduces runs of calls.
  void Reduce(const Definitions& definitions, LeastRun least);

  Result result() const { return result_; }
  const ChunkPayload& payload() const { return payload_; }
  ChunkPlan& plan() { return plan_; }

 private:
  FrameDecoder decoder_;
  std::string bytes_;
  ChunkPayload payload_;
  Result result_ = Result::kOk;
  ChunkPlan plan_;
  std::unique_ptr<CallReducer> reducer_;
};

void LoadedChunk::Load(ChunkPayload::Content content) {
  if (!decoder_.Decompress(frame, bytes_)) {
    result_ = Result::kBadPayload;
    return;
  }
  switch (payload_.Parse(bytes_, content)) {
    case ChunkPayload::Result::kOk:
      result_ = Result::kOk;
      break;
    case ChunkPayload::Result::kMalformed:
      result_ = Result::kMalformed;
      break;
    case ChunkPayload::Result::kTooLarge:
      result_ = Result::kTooLarge;
      break;
  }
}

void LoadedChunk::Reduce(const Definitions& definitions, LeastRun least) {
  if (reducer_ == nullptr) reducer_ = std::make_unique<CallReducer>(definitions);
  plan_.Reduce(*reducer_, least);
}

std::string Seconds(uint64_t time_ns) {
  return absl::StrFormat("%.2f s", static_cast<double>(time_ns) / 1e9);
}

// Bytes after the last whole frame. In a running recording they are a frame that is being written.
void ReportTail(uint64_t bytes, std::string_view file, const Definitions& definitions, bool running,
                ImportStats& stats) {
  if (bytes == 0 || running) return;
  const auto count = static_cast<int64_t>(bytes);
  if (definitions.ended()) return stats.Add(Problem::kBytesBehind, {}, count);
  stats.Add(
      Problem::kCutTail,
      StrCat(file, ": cut off: it holds the recording up to ", Seconds(definitions.end_time())),
      count);
}

absl::Status NothingToRead(std::string_view file, size_t size) {
  if (size == format::kFileHeaderSize) {
    return absl::DataLossError(
        StrCat(file, " holds nothing: its recording has just begun, or was killed at once"));
  }
  return absl::DataLossError(
      StrCat(file, " holds nothing that can be read: it was cut or damaged at its beginning"));
}

void ReportDamage(const FrameDamage& damage, std::string_view file, ImportStats& stats) {
  const std::string where = StrCat(file, ": first damage at byte ", damage.first_offset);
  if (damage.places > 0) stats.Add(Problem::kDamagedFrame, where, damage.places);
  if (damage.bad_payloads > 0) stats.Add(Problem::kDamagedChunk, where, damage.bad_payloads);
}

using ChunkWorkers = OrderedWorkers<LoadedChunk>;

size_t WeightOf(const LoadedChunk& chunk) { return chunk.frame.payload_size; }

// The first pass: finds a trace's frames and loads their chunks.
class ChunkFinder {
 public:
  ChunkFinder(std::string_view content, std::string_view file, int jobs, ImportStats& stats)
      : scanner_(content),
        file_(file),
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
  // After Next has returned null: the skipped bytes, and the frames of the chunks returned.
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
    const uint64_t time = chunk.payload().chunk().time_ns();
    if (number != last_sequence_ + 1) {
      stats_.Add(Problem::kMissingChunk,
                 StrCat(file_, ": chunks are missing between ", Seconds(last_time_), " and ",
                        Seconds(time), " of the recording"),
                 StreamTime(number - last_sequence_ - 1));
    }
    last_sequence_ = number;
    last_time_ = time;
    return true;
  }

  FrameScanner scanner_;  // used by the fetching thread
  const std::string_view file_;
  ImportStats& stats_;
  uint64_t last_sequence_ = 0;
  uint64_t last_time_ = 0;  // of that chunk
  std::vector<size_t> bad_payloads_;
  std::vector<TraceFrame> frames_;
  ChunkWorkers workers_;  // ends before the members it uses
};

struct FirstPass {
  std::vector<TraceFrame> frames;
  FrameDamage damage;
};

FirstPass ReadDefinitions(std::string_view content, std::string_view file, int jobs,
                          absl::FunctionRef<void(const TraceFrame&)> progress,
                          Definitions& definitions, ImportStats& stats) {
  ChunkFinder finder(content, file, jobs, stats);
  while (const LoadedChunk* chunk = finder.Next()) {
    definitions.budget().TakeObjects(chunk->payload().object_bytes());
    definitions.AddChunk(chunk->payload());
    definitions.AddSampleBytes(chunk->payload(), chunk->frame.payload_size, chunk->frame.size());
    progress(chunk->frame);
  }
  return {finder.TakeFrames(), finder.damage()};
}

// The second pass: passes the chunks on. The definitions do not change while others read them,
// except for names made for undefined items.
void EmitChunks(const std::vector<TraceFrame>& frames, const ReadOptions& options,
                const Definitions& definitions, ChunkEmitter& emitter, ImportStats& stats,
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
        chunk.Load(ChunkPayload::Content::kRecords);
        if (chunk.result() != LoadedChunk::Result::kOk) return;
        chunk.MakePlan();
        if (reduce) chunk.Reduce(definitions, options.least_run);
      },
      WeightOf);
  while (LoadedChunk* chunk = workers.Next()) {
    if (chunk->result() == LoadedChunk::Result::kOk) {
      emitter.Emit(chunk->payload(), chunk->plan());
    } else {
      stats.Add(Problem::kDamagedChunk);  // the file was changed since the first pass
    }
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

  WorkBudget budget(content.size());
  Definitions definitions(options.raw_names, options.read_files, budget, model, stats);
  definitions.SetFileBytes(content.size());
  const auto [frames, damage] = ReadDefinitions(
      content, file, options.jobs,
      [&](const TraceFrame& frame) { progress(static_cast<double>(frame.offset), 2 * size); },
      definitions, stats);
  ReportDamage(damage, file, stats);
  if (frames.empty()) return NothingToRead(file, content.size());
  const bool running = !definitions.ended() && options.is_writing != nullptr &&
                       options.is_writing(definitions.pid());
  model.traces().back().running = running;
  if (!definitions.has_data() && !running && damage.any()) {
    return absl::DataLossError(
        StrCat(file, " was cut or damaged: no record of the program is in the ", frames.size(),
               frames.size() == 1 ? " frame" : " frames", " that can be read"));
  }
  ReportTail(damage.tail_bytes, file, definitions, running, stats);
  definitions.Finish(trace);

  ChunkEmitter emitter(definitions, model, stats, visitor);
  EmitChunks(frames, options, definitions, emitter, stats, [&](const TraceFrame& frame) {
    progress(size + static_cast<double>(frame.offset), 2 * size);
  });
  emitter.EmitTrees();
  progress(1, 1);
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
