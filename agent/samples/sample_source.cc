#include "agent/samples/sample_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/samples/instrumented_unwinds.h"
#include "proto/trace_format.h"

namespace jtrace::samples {
namespace {

constexpr absl::string_view kProbeName = "[jtrace probe]";
constexpr uint32_t kBootLoader = 0;
constexpr absl::string_view kUnknownMethod = "[unknown_java_method]";

bool IsJava(const proto::Frame& frame) {
  return frame.kind() >= proto::Frame::INTERPRETED && frame.kind() <= proto::Frame::INLINED;
}

}  // namespace

SampleSource::SampleSource(const RecordingClock& clock, Sampler& sampler,
                           jvm::ClassRegistry& classes, trace::RecordEncoder& encoder,
                           const trace::LabelSets& labels, Losses& losses,
                           ThreadNumber thread_number, NodeNumber node_number,
                           CallSiteAt call_site_at, bool records_interrupts)
    : clock_(clock),
      sampler_(sampler),
      classes_(classes),
      encoder_(encoder),
      labels_(labels),
      losses_(losses),
      positions_expected_(node_number != nullptr),
      thread_number_(std::move(thread_number)),
      node_number_(std::move(node_number)),
      call_site_at_(std::move(call_site_at)),
      records_interrupts_(records_interrupts),
      repeats_(sampler.timer_in_use() == TimerKind::kWall) {}

void SampleSource::Poll(proto::Chunk& chunk) {
  sampler_.Drain([&](const SampleView& view) { Add(view, chunk); });
  if (reached_ != nullptr && samples() >= awaited_) reached_();
}

void SampleSource::AddChanges(uint64_t, proto::Chunk& chunk) {
  if (repeats_) RepeatIdle(chunk);
  AddCost(chunk);
  frames_.clear();
  sampler_.SweepEndedThreads();
  UpdateLosses();
}

void SampleSource::Add(const SampleView& view, proto::Chunk& chunk) {
  // A key in frames_ names another method after it was reused.
  if (const uint64_t reuses = classes_.reuses(); reuses != reuses_) {
    frames_.clear();
    reuses_ = reuses;
  }
  const SampleHeader& header = view.header;
  LastSample* const last = repeats_ && !header.is_unwind ? &last_[view.thread_slot] : nullptr;
  if (header.idle_ticks != 0 && last != nullptr && last->number + 1 == header.number) {
    Repeat(*last, {header.idle_ticks, header.idle_time_ns}, chunk);
  }
  proto::Sample sample;
  sample.set_time_ns(clock_.Since(header.time_ns));
  sample.set_thread(header.java_tid != 0 ? thread_number_(header.java_tid) : header.thread_number);
  if (header.weight != 1) sample.set_weight(header.weight);
  if (header.is_unwind) sample.set_major(format::kInstrumentedUnwind);
  if (records_interrupts_ && !header.is_unwind) AddInterrupt(sample, header.handler_ns);
  const absl::Span<const Frame> frames(view.frames, header.frame_count);
  const jvm::MethodKey innermost = AddFrames(frames, header.is_unwind, chunk, sample);
  sample.set_state(StateOf(header, innermost));
  AddPosition(header, innermost, sample);
  AddLabels(header.labels, sample);
  if (last != nullptr) {
    last->number = header.number;
    last->labels = header.labels;
    last->frames.assign(frames.begin(), frames.end());
    last->sample = sample;
    last->sample.clear_frame();
    last->blocker_klass = header.blocker_klass;
  }
  AddBlocker(header.blocker_klass, sample);
  *chunk.add_sample() = std::move(sample);
  if (!header.is_unwind) samples_.fetch_add(1, std::memory_order_relaxed);
}

void SampleSource::AddPosition(const SampleHeader& header, jvm::MethodKey innermost,
                               proto::Sample& sample) {
  if (header.position_known && node_number_ != nullptr) {
    sample.set_node(node_number_(header.node, innermost));
  } else if (positions_expected_ && header.java_tid != 0) {
    sample.set_position_unknown(true);
    losses_.Add("sample.position_unknown", Severity::kWarning, 1,
                "samples whose place in the call tree is unknown",
                "virtual threads need JDK 25 for this; their samples hang under the thread");
  }
}

// The JVM has one state for parking and sleeping. The method that waits distinguishes them.
proto::Sample::State SampleSource::StateOf(const SampleHeader& header, jvm::MethodKey innermost) {
  const auto state = static_cast<proto::Sample::State>(header.activity);
  if (header.activity != Activity::kWaiting) return state;
  const jvm::MethodKey method = IsJava(header.wait_frame) ? KeyOf(header.wait_frame) : innermost;
  if (method != 0 && classes_.MethodOf(method) == 0) classes_.DefineMethodAt(method);
  switch (method != 0 ? classes_.WaitIn(method) : jvm::MethodWait::kNone) {
    case jvm::MethodWait::kPark:
      return proto::Sample::PARKED;
    case jvm::MethodWait::kSleep:
      return proto::Sample::SLEEPING;
    case jvm::MethodWait::kNone:
      break;
  }
  return state;
}

// The class is looked up each time, because it may have been forgotten since the last sample.
void SampleSource::AddBlocker(uintptr_t klass, proto::Sample& sample) {
  const uint32_t class_id = klass != 0 ? classes_.ClassOf(klass) : 0;
  if (class_id == 0) return;
  encoder_.DefineClass(class_id);
  sample.set_blocker_class(class_id);
}

void SampleSource::AddLabels(uint32_t number, proto::Sample& sample) {
  if (number == kNoLabels) return;
  const trace::Labels* const labels = labels_.Find(number);
  if (labels == nullptr) {
    losses_.Add(
        "labels.too_many", Severity::kWarning, 1,
        "samples without their labels: the program has used more than 10,000 sets of labels",
        "label with what has few values: kinds of requests, tenants; not with their numbers");
    return;
  }
  encoder_.DefineLabels(number, *labels);
  sample.set_labels(number);
}

void SampleSource::Repeat(const LastSample& last, IdleTicks idle, proto::Chunk& chunk) {
  proto::Sample* const sample = chunk.add_sample();
  *sample = last.sample;
  sample->set_time_ns(std::max(clock_.Since(idle.time_ns), last.sample.time_ns()));
  sample->set_weight(idle.ticks);
  AddFrames(last.frames, /*is_unwind=*/false, chunk, *sample);
  AddBlocker(last.blocker_klass, *sample);
  AddLabels(last.labels, *sample);  // a later file defines them again
  samples_.fetch_add(1, std::memory_order_relaxed);
}

void SampleSource::RepeatIdle(proto::Chunk& chunk) {
  for (const auto& [slot, last] : last_) {
    const IdleTicks idle = sampler_.CollectIdle(slot, last.number);
    if (idle.ticks != 0) Repeat(last, idle, chunk);
  }
}

void SampleSource::AddCost(proto::Chunk& chunk) const {
  const HandlerCost cost = sampler_.Cost();
  if (cost.samples == 0) return;
  proto::SampleCost* const encoded = chunk.mutable_sample_cost();
  encoded->set_samples(cost.samples);
  encoded->set_total_ns(cost.total_ns);
  encoded->set_median_ns(cost.p50_ns);
  encoded->set_p99_ns(cost.p99_ns);
}

// Records the handler that took the sample as an interrupt of level 0. Nested handlers take none.
void SampleSource::AddInterrupt(const proto::Sample& sample, uint32_t duration_ns) {
  trace::EventRecord event = {.time_ns = sample.time_ns(),
                              .thread = sample.thread(),
                              .major = format::kInterrupt,
                              .minor = format::kInterruptLevel,
                              .value = 1};  // depth
  encoder_.AddEvent(event);
  event.time_ns += duration_ns;
  event.minor |= format::kEnd;
  encoder_.AddEvent(event);
}

jvm::MethodKey SampleSource::AddFrames(absl::Span<const Frame> frames, bool is_unwind,
                                       proto::Chunk& chunk, proto::Sample& sample) {
  jvm::MethodKey innermost = 0;
  for (const Frame& frame : frames) {
    const CachedFrame known = Resolve(frame, chunk);
    // A probe's code is jtrace's own cost: one frame represents all of it. An unwind is taken
    // inside a probe, whose frames are left out.
    if (known.is_probe) {
      sample.clear_frame();
      innermost = 0;
      if (is_unwind) continue;
    }
    sample.add_frame(known.index);
    if (innermost == 0) innermost = known.method;
  }
  return innermost;
}

SampleSource::CachedFrame SampleSource::Resolve(const Frame& frame, proto::Chunk& chunk) {
  const FrameKey key(frame.value, frame.bci, static_cast<uint8_t>(frame.kind), frame.flags);
  const CachedFrame next = {.index = static_cast<uint32_t>(chunk.frame_size())};
  const auto [entry, inserted] = frames_.try_emplace(key, next);
  if (inserted) {
    proto::Frame* encoded = chunk.add_frame();
    Encode(frame, *encoded);
    if (IsProbe(*encoded)) {
      entry->second.is_probe = true;
      encoded->Clear();
      encoded->set_kind(proto::Frame::STUB);
      encoded->set_value(encoder_.String(kProbeName));
    } else if (IsJava(*encoded)) {
      entry->second.method = KeyOf(frame);
      if (call_site_at_ != nullptr && frame.bci >= 0) {
        encoded->set_place(call_site_at_(entry->second.method, static_cast<uint32_t>(frame.bci)));
      }
    }
  }
  return entry->second;
}

bool SampleSource::IsProbe(const proto::Frame& frame) const {
  return IsJava(frame) && classes_.IsProbe(static_cast<uint32_t>(frame.value()));
}

uint32_t SampleSource::Intrinsic(const Frame& frame) {
  const auto method = sampler_.jvm().intrinsics().Find(frame.value);
  if (!method.has_value()) return 0;
  constexpr std::string_view kClass = jvm::IntrinsicNames::kClass;
  const uint32_t class_id = encoder_.ClassNumber({kClass.data(), kClass.size()}, kBootLoader);
  return encoder_.MethodNumber(class_id, method->name, method->descriptor);
}

// A method may have got its jmethodID, from another agent or the JVM, after its class was recorded.
jvm::MethodKey SampleSource::KeyOf(const Frame& frame) const {
  if ((frame.flags & kFrameRawMethod) != 0 || classes_.MethodOf(frame.value) != 0) {
    return frame.value;
  }
  return sampler_.jvm().MethodBehind(reinterpret_cast<jmethodID>(frame.value));
}

// A method that was redefined while a thread is inside it has another id, or none.
uint32_t SampleSource::MethodOf(const Frame& frame) {
  const jvm::MethodKey key = KeyOf(frame);
  if (const uint32_t method = classes_.MethodOf(key); method != 0) return method;
  if (const uint32_t old = classes_.OldMethod(key); old != 0) return old;
  const uint32_t intrinsic = (frame.flags & kFrameRawMethod) != 0 ? Intrinsic(frame) : 0;
  return intrinsic != 0 ? intrinsic : classes_.DefineMethodAt(key);
}

void SampleSource::Encode(const Frame& frame, proto::Frame& out) {
  out.set_kind(static_cast<proto::Frame::Kind>(frame.kind));
  out.set_bci(static_cast<uint32_t>(frame.bci + 1));
  out.set_value(frame.value);
  switch (frame.kind) {
    case FrameKind::kInterpreted:
    case FrameKind::kCompiled:
    case FrameKind::kInlined: {
      const uint32_t method = MethodOf(frame);
      out.set_value(method);
      encoder_.DefineMethod(method);
      if (original_bci_ != nullptr && frame.bci >= 0) {
        const uint32_t routine = classes_.RoutineOf(KeyOf(frame));
        if (routine != 0) {
          out.set_bci(original_bci_(routine, static_cast<uint32_t>(frame.bci)) + 1);
        }
      }
      if (method == 0) {
        losses_.Add("frame.unknown_method", Severity::kWarning, 1,
                    "frames of Java methods whose class was not seen");
        out.set_kind(proto::Frame::MARKER);
        out.set_value(encoder_.String(kUnknownMethod));
      }
      break;
    }
    case FrameKind::kStub:
      out.set_value(encoder_.String(sampler_.jvm().stubs().Name(frame.value)));
      break;
    case FrameKind::kKernel:
      out.set_value(encoder_.String(sampler_.kernel_symbols().NameOf(frame.value)));
      break;
    case FrameKind::kMarker:
      out.set_value(encoder_.String(
          absl::StrCat("[", MissingReasonName(static_cast<MissingReason>(frame.value)), "]")));
      out.set_bci(0);
      break;
    default:
      break;
  }
}

void SampleSource::UpdateLosses() {
  losses_.Set(
      "unwind.not_taken", Severity::kWarning, instrumented_unwinds.missed(),
      "entries of methods of unwind= without an unwind: the thread's ring was full, or it is "
      "not sampled",
      "take fewer: unwind=com.acme.Cache::load:every=100");
  losses_.Set("samples.no_compiled_frames", Severity::kError,
              sampler_.jvm().sees_compiled_code() ? 0 : 1,
              "samples lack compiled methods and perhaps their callers: compiled code of this JVM "
              "is not as its tables say",
              "use a JDK that `jtrace` is tested on");
  losses_.Set("samples.no_inlined_methods", Severity::kWarning,
              sampler_.jvm().sees_inlined_methods() ? 0 : 1,
              "samples lack inlined methods: this JVM's debug information differs from what it "
              "reports",
              "use a JDK that `jtrace` is tested on; the names of compiled methods are right");
  for (const LossRow& loss : sampler_.Losses()) {
    losses_.Set(loss.name, loss.severity, loss.count, loss.what, loss.advice);
  }
}

}  // namespace jtrace::samples
