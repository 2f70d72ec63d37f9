#include "postproc/reader/trace_reader.h"

#include <cstdint>

#include "postproc/reader/chunk_emitter.h"
#include "postproc/reader/chunk_payload.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/frame_scanner.h"
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

// Walks the chunks of a trace in their order. The same chunks come up every time.
class ChunkWalk {
 public:
  // `stats` may be null: damage is told in one pass only.
  ChunkWalk(std::string_view content, ImportStats* stats)
      : scanner_(content), size_(content.size()), stats_(stats) {}

  // The next chunk, valid until the next call; null at the end.
  const ChunkPayload* Next() {
    while (const auto payload = scanner_.Next()) {
      switch (payload_.Parse(*payload)) {
        case ChunkPayload::Result::kOk:
          if (InSequence()) return &payload_;
          break;
        case ChunkPayload::Result::kMalformed:
          Note(Problem::kDamagedChunk, 1);
          break;
        case ChunkPayload::Result::kTooLarge:
          Note(Problem::kOversizedChunk, 1);
          break;
      }
    }
    return nullptr;
  }
  // Complete when Next has returned null.
  const FrameDamage& damage() const { return scanner_.damage(); }

  // The frame of the chunk that Next returned.
  const FrameScanner& frame() const { return scanner_; }

  double fraction() const {
    return static_cast<double>(scanner_.position()) / static_cast<double>(size_);
  }

 private:
  bool InSequence() {
    const uint64_t number = payload_.chunk().sequence();
    if (number == 0) return true;  // written without numbers
    if (number <= last_sequence_) {
      Note(Problem::kRepeatedChunk, 1);
      return false;
    }
    if (number != last_sequence_ + 1) {
      Note(Problem::kMissingChunk, StreamTime(number - last_sequence_ - 1));
    }
    last_sequence_ = number;
    return true;
  }
  void Note(Problem problem, int64_t count) {
    if (stats_ != nullptr) stats_->Add(problem, {}, count);
  }

  FrameScanner scanner_;
  const size_t size_;
  ImportStats* const stats_;
  ChunkPayload payload_;
  uint64_t last_sequence_ = 0;
};

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
  const auto progress = [&](double fraction) {
    if (options.progress != nullptr) options.progress(fraction);
  };
  const auto trace = static_cast<uint32_t>(model.traces().size());
  model.AddTrace(std::string(file));

  Definitions definitions(options.raw_names, model, stats);
  ChunkWalk first_pass(content, &stats);
  while (const ChunkPayload* chunk = first_pass.Next()) {
    definitions.AddChunk(*chunk);
    definitions.AddSampleBytes(*chunk, first_pass.frame().payload_bytes(),
                               first_pass.frame().frame_bytes());
    progress(first_pass.fraction() / 2);
  }
  const bool running = !definitions.ended() && options.is_writing != nullptr &&
                       options.is_writing(definitions.pid());
  model.traces().back().running = running;
  ReportDamage(first_pass.damage(), file, running, stats);
  definitions.Finish(trace);

  ChunkEmitter emitter(definitions, model, stats, visitor);
  ChunkWalk second_pass(content, nullptr);
  while (const ChunkPayload* chunk = second_pass.Next()) {
    emitter.Emit(*chunk);
    progress(0.5 + second_pass.fraction() / 2);
  }
  emitter.EmitTrees();
  progress(1);
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
