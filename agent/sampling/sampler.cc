#include "agent/sampling/sampler.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "agent/sampling/object_copy.h"
#include "agent/sampling/sampler_impl.h"

namespace jtrace::sampling {

Sampler::Sampler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Sampler::~Sampler() {
  // A handler that still runs may read the layout and the stub tables.
  if (!Stop().ok()) (void)impl_.release();
}

absl::StatusOr<std::unique_ptr<Sampler>> Sampler::Create(const SamplerOptions& options,
                                                         const void* libjvm_address) {
  RefreshObjectCopy();
  auto impl = Impl::Create(options, libjvm_address);
  if (!impl.ok()) return impl.status();
  return std::unique_ptr<Sampler>(new Sampler(*std::move(impl)));
}

absl::Status Sampler::Reconfigure(const SamplerOptions& options) {
  return impl_->Reconfigure(options);
}

void Sampler::AddDynamicCode(std::string_view name, const void* address, uint32_t length) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  impl_->jvm().AddStub(name, begin, begin + length);
}

std::optional<IntrinsicMethod> Sampler::IntrinsicMethodAt(uint64_t method) const {
  return impl_->jvm().intrinsics().Find(method);
}

std::string Sampler::StubName(uint64_t address) const { return impl_->jvm().stubs().Name(address); }

absl::Status Sampler::LearnJvm(JNIEnv* env) { return impl_->LearnJvm(env); }

absl::Status Sampler::Start(JNIEnv* env) { return impl_->Start(env); }

const std::vector<PartProblem>& Sampler::JvmProblems() const { return impl_->jvm().problems(); }

bool Sampler::SeesCompiledCode() const { return impl_->jvm().sees_compiled_code(); }

bool Sampler::SeesInlinedMethods() const { return impl_->jvm().sees_inlined_methods(); }

const std::string& Sampler::JavaLayoutProblem() const { return impl_->jvm().problem(); }

absl::Status Sampler::AttachCurrentThread(JNIEnv* env, uint32_t thread_number, uint64_t java_tid) {
  return impl_->Attach(gettid(), thread_number, java_tid, impl_->jvm().JavaThreadOf(env));
}

absl::Status Sampler::AttachThread(pid_t tid, uint32_t thread_number, uint64_t java_tid,
                                   uintptr_t java_thread) {
  return impl_->Attach(tid, thread_number, java_tid, java_thread);
}

bool Sampler::IsAttached(pid_t tid) const { return impl_->IsAttached(tid); }

pid_t Sampler::OsThreadId(uintptr_t java_thread) const {
  return impl_->jvm().OsThreadId(java_thread);
}

uintptr_t Sampler::MethodBehind(jmethodID id) const { return impl_->jvm().MethodBehind(id); }

void Sampler::NoteCompiledCode(const void* address, const void* compile_info) {
  impl_->jvm().NoteCompiledCode(reinterpret_cast<uintptr_t>(address), compile_info);
}

void Sampler::NeedMethodIds(bool needed) { impl_->jvm().NeedMethodIds(needed); }

bool Sampler::NeedsCompiledCode() const { return impl_->jvm().needs_reports(); }

bool Sampler::KeepDebugInfo() { return impl_->jvm().non_safepoints_flag().TurnOn(); }

void Sampler::StopKeepingDebugInfo() { impl_->jvm().non_safepoints_flag().TurnOff(); }

void Sampler::DetachCurrentThread() { impl_->Detach(gettid()); }

void Sampler::SweepEndedThreads() { impl_->SweepEndedThreads(); }

void Sampler::Drain(absl::FunctionRef<void(const hot::SampleView&)> take) { impl_->Drain(take); }

absl::Status Sampler::Stop(std::chrono::milliseconds patience) { return impl_->Stop(patience); }

TimerKind Sampler::timer_in_use() const { return impl_->timer_in_use(); }

bool Sampler::has_jitter() const { return impl_->has_jitter(); }

std::vector<SampleLoss> Sampler::Losses() const { return impl_->Losses(); }

HandlerCost Sampler::Cost() const { return impl_->Cost(); }

hot::IdleTicks Sampler::TakeIdle(uint32_t thread_slot, uint32_t number) {
  return impl_->TakeIdle(thread_slot, number);
}

AddressSet& Sampler::app_methods() { return impl_->app_methods(); }

KernelSymbols& Sampler::kernel_symbols() { return impl_->kernel_symbols(); }

bool Sampler::has_kernel_frames() const { return impl_->has_kernel_frames(); }

bool Sampler::kernel_frames_allowed() const { return impl_->kernel_frames_allowed(); }

bool Sampler::Owns(pid_t tid) const { return impl_->Owns(tid); }

int Sampler::SignalError() const { return impl_->SignalError(); }

std::vector<pid_t> ListThreads() {
  std::vector<pid_t> threads;
  DIR* const directory = opendir("/proc/self/task");
  if (directory == nullptr) return threads;
  while (const dirent* const entry = readdir(directory)) {
    const int tid = std::atoi(entry->d_name);
    if (tid > 0) threads.push_back(tid);
  }
  closedir(directory);
  return threads;
}

}  // namespace jtrace::sampling
