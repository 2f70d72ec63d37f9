#include "agent/session.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/hot/position.h"
#include "agent/jvmti/callbacks.h"
#include "agent/jvmti/env.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

constexpr std::array kEarlyEvents = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                     JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END};
// Compiled methods are asked for before any is compiled: HotSpot then keeps debug information for
// every instruction, not only for safepoints, and inlined frames of samples are exact.
constexpr std::array kEarlySamplingEvents = {JVMTI_EVENT_COMPILED_METHOD_LOAD,
                                             JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
                                             JVMTI_EVENT_DYNAMIC_CODE_GENERATED};
constexpr std::array kLiveEvents = {JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_OBJECT_FREE,
                                    JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                    JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
constexpr std::array kVirtualThreadEvents = {jvmti::kVirtualThreadStart, jvmti::kVirtualThreadEnd};
constexpr std::array kClassFileEvents = {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK};

jvmtiCapabilities WantedCapabilities(const Options& options) {
  jvmtiCapabilities wanted = {};
  wanted.can_tag_objects = 1;
  wanted.can_generate_object_free_events = 1;
  wanted.can_generate_garbage_collection_events = 1;
  wanted.can_generate_compiled_method_load_events = 1;
  if (options.WantsEvents()) {
    wanted.can_generate_all_class_hook_events = 1;
    wanted.can_retransform_classes = 1;
  }
  return wanted;
}

// A thread's ring holds about 500 samples of usual stacks.
absl::Duration PollPeriod(const Options& options) {
  constexpr int kSamplesBetweenPolls = 150;
  return std::clamp(options.interval * kSamplesBetweenPolls, absl::Milliseconds(5),
                    absl::Milliseconds(100));
}

}  // namespace

Session::Session(jvmtiEnv* env, const Options& options, std::unique_ptr<writer::TraceFile> file)
    : env_(env),
      options_(options),
      log_(options.log, options.log_file),
      encoder_(options.codes_off),
      file_(std::move(file)),
      loaders_(env),
      classes_(env, clock_, loaders_, encoder_, losses_),
      code_(clock_, classes_, encoder_),
      threads_(env, clock_, encoder_),
      module_source_(encoder_),
      loss_source_(losses_) {}

absl::Status Session::Open(JavaVM* vm, const Options& options) {
  jvmtiEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JVMTI_VERSION_11) != JNI_OK) {
    return absl::UnimplementedError("this JVM has no JVMTI 11; use JDK 17 or later");
  }
  const auto now_s = static_cast<int64_t>(UnixNanos() / 1'000'000'000u);
  auto file =
      writer::TraceFile::Create(writer::ExpandPath(options.out, getpid(), now_s, /*number=*/1));
  if (!file.ok()) return file.status();
  // Not freed: see the class comment.
  auto* session = new Session(env, options, *std::move(file));
  const auto has_virtual = jvmti::AddCapabilities(env, WantedCapabilities(options));
  if (!has_virtual.ok()) return has_virtual.status();
  session->has_virtual_threads_ = has_virtual->virtual_threads;
  if (absl::Status status = jvmti::InstallCallbacks(env, session); !status.ok()) return status;
  if (absl::Status status = session->CreateInstrumentation(); !status.ok()) return status;
  if (options.WantsSamples()) {
    if (absl::Status status = session->CreateSampler(vm); !status.ok()) return status;
    if (absl::Status status = jvmti::EnableEvents(env, kEarlySamplingEvents); !status.ok()) {
      return status;
    }
  }
  return jvmti::EnableEvents(env, kEarlyEvents);
}

absl::Status Session::CreateInstrumentation() {
  if (!options_.WantsEvents()) return absl::OkStatus();
  auto instrumentation = Instrumentation::Create(options_, encoder_, losses_);
  if (!instrumentation.ok()) return instrumentation.status();
  instrumentation_ = *std::move(instrumentation);
  return absl::OkStatus();
}

absl::Status Session::CreateSampler(JavaVM* vm) {
  sampling::SamplerOptions options;
  options.interval = std::chrono::nanoseconds(absl::ToInt64Nanoseconds(options_.interval));
  if (options_.signal != 0) options.signal = options_.signal;
  if (options_.WantsEvents() && options_.record == RecordKind::kTree) {
    options.read_position = &hot::ReadPosition;
  }
  auto sampler =
      sampling::Sampler::Create(options, reinterpret_cast<const void*>(vm->functions->GetEnv));
  if (!sampler.ok()) return sampler.status();
  sampler_ = *std::move(sampler);
  return absl::OkStatus();
}

void Session::VmInit(JNIEnv* jni, jthread thread) {
  const jvmti::ThreadNumbers main = threads_.Start(jni, thread);
  if (absl::Status status = StartProbes(jni); !status.ok()) return GiveUp(status.message());
  if (absl::Status status = StartSampler(jni); !status.ok()) return GiveUp(status.message());
  recording_.store(true, std::memory_order_release);
  EnableLiveEvents();
  RetransformLoaded(jni);
  classes_.PrepareLoaded(jni, main.number);
  if (sampler_ != nullptr) {
    sampler_->AttachCurrentThread(jni, main.number, main.java_tid).IgnoreError();
    AttachRunningThreads(jni);
    env_->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    env_->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
  }
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .thread = main.number,
                     .major = format::kSession,
                     .minor = format::kSessionInitialised});
  StartWriter();
  log_.Line(absl::StrCat("recording to ", file_->path(), " (", DescribeOptions(options_), ")"));
}

absl::Status Session::StartProbes(JNIEnv* jni) {
  if (!options_.WantsEvents()) return absl::OkStatus();
  const bool flat = options_.record == RecordKind::kFlat;
  auto probes = Install(env_, jni, {.flat = flat});
  if (!probes.ok()) return probes.status();
  probes_ = *std::move(probes);
  if (flat) {
    counts_ = std::make_unique<FlatCollector>(probes_->arena());
    call_source_ = std::make_unique<writer::FlatSource>(*counts_, threads_, encoder_);
  } else {
    trees_ = std::make_unique<TreeCollector>(probes_->arena());
    call_source_ = std::make_unique<writer::TreeSource>(*trees_, threads_, losses_);
  }
  return jvmti::EnableEvents(env_, kClassFileEvents);
}

absl::Status Session::StartSampler(JNIEnv* jni) {
  if (sampler_ == nullptr) return absl::OkStatus();
  if (absl::Status status = sampler_->Start(jni); !status.ok()) return status;
  if (const std::string& problem = sampler_->JavaLayoutProblem(); !problem.empty()) {
    losses_.Add("samples.no_java_frames", Severity::kError, 1,
                absl::StrCat("samples have no Java frames: ", problem),
                "use a JDK between 17 and 25 built by OpenJDK");
  }
  writer::SampleSource::NodeNumber node_number;
  if (trees_ != nullptr) {
    node_number = [this](uint64_t raw_node) { return trees_->TraceNode(raw_node); };
  }
  sample_source_ = std::make_unique<writer::SampleSource>(
      clock_, *sampler_, classes_, threads_, encoder_, losses_, std::move(node_number));
  internal_threads_ = std::make_unique<writer::InternalThreadSource>(
      threads_, *sampler_,
      [this](pid_t tid) { return drain_ != nullptr && tid == drain_->os_tid(); });
  return absl::OkStatus();
}

// Java threads that started before the sampler: their kernel tids were noted when they started.
void Session::AttachRunningThreads(JNIEnv* jni) {
  jvmti::LocalFrame frame(jni);
  jint count = 0;
  jvmti::Allocated<jthread> running(env_);
  if (env_->GetAllThreads(&count, running.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const jvmti::RunningThread found = threads_.FindRunning(jni, running[i]);
    if (found.numbers.number == 0 || found.numbers.os_tid == gettid()) continue;
    sampler_
        ->AttachThread(found.numbers.os_tid, found.numbers.number, found.numbers.java_tid,
                       found.java_thread)
        .IgnoreError();
  }
  internal_threads_->AttachAll();
}

void Session::RetransformLoaded(JNIEnv* jni) {
  if (instrumentation_ == nullptr || options_.include.empty()) return;
  jvmti::LocalFrame frame(jni);
  jint count = 0;
  jvmti::Allocated<jclass> classes(env_);
  if (env_->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    jvmti::Allocated<char> signature(env_);
    jboolean modifiable = JNI_FALSE;
    if (env_->GetClassSignature(classes[i], signature.out(), nullptr) != JVMTI_ERROR_NONE ||
        !instrumentation_->InScope(jvmti::BinaryName(signature.get())) ||
        env_->IsModifiableClass(classes[i], &modifiable) != JVMTI_ERROR_NONE || !modifiable) {
      continue;
    }
    if (env_->RetransformClasses(1, &classes[i]) != JVMTI_ERROR_NONE) {
      losses_.Add("class.not_retransformed", Severity::kWarning, 1,
                  "classes loaded before the probes were ready that the JVM did not let change");
    }
  }
}

void Session::StartWriter() {
  // Samples before trees: a node that a sample names was made before the sample was taken, so the
  // trees collected after it define the node.
  std::vector<writer::ChunkSource*> sources;
  if (sample_source_ != nullptr) sources.push_back(sample_source_.get());
  if (internal_threads_ != nullptr) sources.push_back(internal_threads_.get());
  if (call_source_ != nullptr) sources.push_back(call_source_.get());
  sources.push_back(&module_source_);
  sources.push_back(&loss_source_);
  drain_ = std::make_unique<writer::DrainThread>(
      clock_, encoder_, *file_, std::move(sources), PollPeriod(options_),
      [this](const absl::Status& status) { GiveUp(status.message()); });
  drain_->Start(DescribeStart());
}

void Session::EnableLiveEvents() {
  jvmti::EnableEvents(env_, kLiveEvents).IgnoreError();
  if (has_virtual_threads_) jvmti::EnableEvents(env_, kVirtualThreadEvents).IgnoreError();
}

void Session::VmDeath() {
  if (!recording_.exchange(false)) return;
  jvmti::DisableEvents(env_, kLiveEvents).IgnoreError();
  jvmti::DisableEvents(env_, kClassFileEvents).IgnoreError();
  if (sampler_ != nullptr) sampler_->Stop().IgnoreError();
  const absl::Status written = drain_->Stop([this](proto::SessionEnd& end) { FinishEnd(end); });
  PrintEnd(written);
}

void Session::GiveUp(absl::string_view why) {
  recording_.store(false);
  LogToStderr(absl::StrCat("recording stopped, the program runs on: ", why));
  jvmti::DisableEvents(env_, kLiveEvents).IgnoreError();
  if (sampler_ != nullptr) sampler_->Stop().IgnoreError();
}

}  // namespace jtrace
