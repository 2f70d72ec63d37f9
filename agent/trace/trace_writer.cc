#include "agent/trace/trace_writer.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "agent/signal_safe/agent_work_scope.h"
#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

constexpr uint64_t kSealPeriodNs = 900'000'000;
constexpr uint64_t kUrgentSealPeriodNs = 100'000'000;
// Chunks of a program with millions of call paths would follow each other without a pause if the
// next seal did not wait in proportion to the last one.
constexpr uint64_t kRestAfterSeal = 30;  // times the seal's processor time
// Chunks stay small enough that two fit easily in memory, and far below the format's limit.
constexpr size_t kSealBytes = 4u << 20;
constexpr size_t kMaxChunkBytes = 16u << 20;
// A record may be larger than the usual chunk, but it fits into a frame together with its headers.
constexpr size_t kMaxRecordBytes = format::kMaxPayloadSize - 1024;
constexpr int kSealSamples = 20'000;
constexpr size_t kSealEvents = 1u << 21;

// Counts the events of logs, which take two to four bytes each.
size_t LoggedEvents(const proto::Chunk& chunk) {
  size_t sum = 0;
  for (const proto::EventLog& log : chunk.log()) sum += static_cast<size_t>(log.op_size());
  return sum;
}

// Merges by time: a thread's events come from sources and encoder, and must stay in order.
void MergeEvents(google::protobuf::RepeatedPtrField<proto::Event>& from,
                 google::protobuf::RepeatedPtrField<proto::Event>& into) {
  if (from.empty()) return;
  into.MergeFrom(from);
  std::stable_sort(
      into.pointer_begin(), into.pointer_end(),
      [](const proto::Event* a, const proto::Event* b) { return a->time_ns() < b->time_ns(); });
  from.Clear();
}

// Appends the sources' records to the encoder's chunk, large ones without a copy.
void Merge(proto::Chunk& from, proto::Chunk& into) {
  into.mutable_frame()->Swap(from.mutable_frame());
  into.mutable_sample()->Swap(from.mutable_sample());
  into.mutable_tree()->Swap(from.mutable_tree());
  into.mutable_log()->Swap(from.mutable_log());
  MergeEvents(*from.mutable_event(), *into.mutable_event());
  into.mutable_loss()->Swap(from.mutable_loss());
  into.mutable_module()->Swap(from.mutable_module());
  into.MergeFrom(from);
  from.Clear();
}

}  // namespace

TraceWriter::TraceWriter(WorkerThread& thread, const RecordingClock& clock, RecordEncoder& encoder,
                         TraceFile& file, std::vector<ChunkSource*> sources,
                         absl::Duration poll_period, signal_safe::Doorbell& doorbell,
                         std::function<void(const absl::Status&)> on_failure)
    : thread_(thread),
      clock_(clock),
      encoder_(encoder),
      file_(&file),
      sources_(std::move(sources)),
      poll_period_(poll_period),
      doorbell_(doorbell),
      on_failure_(std::move(on_failure)),
      splitter_(kMaxChunkBytes, kMaxRecordBytes) {}

TraceWriter::~TraceWriter() {
  if (started_) Stop([](proto::SessionEnd&) {}).IgnoreError();
}

void TraceWriter::Start(proto::SessionStart first) {
  first_ = std::make_unique<proto::SessionStart>(std::move(first));
  thread_.Begin([this] { Run(); });
  started_ = true;
}

absl::Status TraceWriter::Stop(const std::function<void(proto::SessionEnd&)>& finish) {
  {
    std::lock_guard lock(requests_.mutex);
    requests_.stopping = true;
  }
  doorbell_.Ring();
  if (std::exchange(started_, false)) thread_.Wait();
  // Nothing runs on the thread: its state now belongs to the caller.
  Guarded([&] {
    Poll();
    for (ChunkSource* source : sources_) source->EndFile(/*is_last=*/true, own_);
    WriteChunk(&finish);
  });
  return status_;
}

void TraceWriter::Guarded(absl::FunctionRef<void()> work) {
  if (!signal_safe::agent_is_disabled.load()) {
    try {
      return work();
    } catch (...) {
      signal_safe::DisableAgent();
    }
  }
  if (!status_.ok()) return;
  status_ = absl::ResourceExhaustedError("no memory; raise ulimit -v");
  on_failure_(status_);
}

void TraceWriter::Run() {
  const uint64_t begin_ns = CurrentThreadCpuNanos();
  // The SessionStart is written at once, so that a program killed early leaves a readable trace.
  Guarded([this] { WriteChunk(nullptr); });
  while (true) {
    const bool stopping = WaitForPoll();
    RunTask();
    if (stopping) break;  // Stop polls once more
    Guarded([this] {
      Poll();
      if (IsChunkDue(clock_.Now())) WriteChunk(nullptr);
    });
    cpu_ns_.store(CurrentThreadCpuNanos() - begin_ns, std::memory_order_relaxed);
  }
}

bool TraceWriter::WaitForPoll() {
  const bool behind = std::any_of(sources_.begin(), sources_.end(),
                                  [](const ChunkSource* source) { return source->IsBehind(); });
  if (!behind) (void)doorbell_.Wait(static_cast<uint64_t>(absl::ToInt64Nanoseconds(poll_period_)));
  std::lock_guard lock(requests_.mutex);
  return requests_.stopping;
}

void TraceWriter::RunTask() {
  {
    std::lock_guard lock(requests_.mutex);
    if (requests_.task == nullptr) return;
  }
  requests_.task();  // no other thread changes it while it is not null
  std::lock_guard lock(requests_.mutex);
  requests_.task = nullptr;
  requests_.answered.notify_all();
}

void TraceWriter::Call(absl::FunctionRef<void()> task) {
  std::unique_lock lock(requests_.mutex);
  // One task runs at a time. Once the writer thread has stopped, its state belongs to the caller.
  requests_.answered.wait(lock, [this] { return requests_.task == nullptr || requests_.stopping; });
  if (requests_.stopping || !started_) {
    lock.unlock();
    return task();
  }
  std::exception_ptr failure;
  requests_.task = [&task, &failure] {
    try {
      task();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  doorbell_.Ring();
  requests_.answered.wait(lock, [this] { return requests_.task == nullptr; });
  if (failure != nullptr) std::rethrow_exception(failure);
}

absl::Status TraceWriter::Flush() {
  absl::Status status;
  Call([&] {
    Guarded([this] {
      Poll();
      for (ChunkSource* source : sources_) source->Flush();
      WriteChunk(nullptr);
    });
    status = status_;
  });
  return status;
}

absl::Status TraceWriter::NextFile(TraceFile& next, proto::SessionStart first,
                                   const std::function<void(proto::SessionEnd&)>& finish) {
  absl::Status status;
  Call([&] {
    Guarded([&] {
      Poll();
      for (ChunkSource* source : sources_) source->EndFile(/*is_last=*/false, own_);
      WriteChunk(&finish);
    });
    status = status_;
    if (!signal_safe::agent_is_disabled.load()) status_ = absl::OkStatus();
    file_ = &next;
    Guarded([&] {
      sequence_ = 0;
      first_ = std::make_unique<proto::SessionStart>(std::move(first));
      encoder_.BeginFile();
      for (ChunkSource* source : sources_) source->BeginFile();
      ReportFileBytes();
      WriteChunk(nullptr);
    });
  });
  return status;
}

void TraceWriter::Poll() {
  for (ChunkSource* source : sources_) source->Poll(own_);
}

bool TraceWriter::IsChunkDue(uint64_t now) const {
  const bool is_urgent = std::any_of(sources_.begin(), sources_.end(),
                                     [](const ChunkSource* source) { return source->IsUrgent(); });
  const uint64_t period_ns =
      std::max(is_urgent ? kUrgentSealPeriodNs : kSealPeriodNs, kRestAfterSeal * seal_cpu_ns_);
  return LoggedEvents(own_) >= kSealEvents || now - last_seal_ns_ >= period_ns ||
         own_.sample_size() >= kSealSamples || encoder_.pending_bytes() >= kSealBytes;
}

void TraceWriter::WriteChunk(const std::function<void(proto::SessionEnd&)>* finish) {
  last_seal_ns_ = clock_.Now();
  const uint64_t cpu_before_ns = CurrentThreadCpuNanos();
  for (ChunkSource* source : sources_) source->AddChanges(last_seal_ns_, own_);
  // The encoder's chunk is taken last, so that it defines every number that the sources used.
  proto::Chunk chunk = encoder_.Take();
  Merge(own_, chunk);
  if (first_ != nullptr) chunk.set_allocated_session_start(first_.release());
  if (finish != nullptr) (*finish)(*chunk.mutable_session_end());
  Number(chunk);
  if (splitter_.Fits(chunk)) {
    // Fits has computed the size. For a long log, to compute it again takes as long as writing it.
    Write(chunk, static_cast<size_t>(chunk.GetCachedSize()));
  } else {
    splitter_.Split(std::move(chunk), [this](proto::Chunk part) {
      Number(part);
      Write(part, part.ByteSizeLong());
    });
  }
  seal_cpu_ns_ = CurrentThreadCpuNanos() - cpu_before_ns;
  // The sources were emptied even after an error, so that memory stays bounded.
  if (status_.ok()) ReportFileBytes();
}

void TraceWriter::Number(proto::Chunk& part) {
  part.set_sequence(sequence_ + 1);
  part.set_time_ns(last_seal_ns_);
}

void TraceWriter::Write(proto::Chunk& part, size_t size) {
  ++sequence_;
  if (!status_.ok()) return;
  if (payload_.size() < size) payload_.resize(size);
  part.SerializeWithCachedSizesToArray(payload_.data());
  status_ = file_->Append({reinterpret_cast<const char*>(payload_.data()), size});
  if (!status_.ok()) on_failure_(status_);
  for (ChunkSource* source : sources_) source->Recycle(part);
}

void TraceWriter::ReportFileBytes() {
  for (ChunkSource* source : sources_) source->OnFileSizeChanged(file_->bytes_written());
}

}  // namespace jtrace::trace
