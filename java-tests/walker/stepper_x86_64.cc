#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/handler/thread_identity.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/samples/walk/walker.h"
#include "java-tests/walker/path_check.h"
#include "java-tests/walker/stepper.h"

namespace jtrace::walker_test {
namespace {

using samples::Chain;
using samples::Frame;

constexpr greg_t kTrapFlag = 0x100;

// A chain that was wrong, for the report.
struct WrongChain {
  uintptr_t pc;
  samples::ChainEnd end;
  uint32_t count;
  Frame frames[40];
  std::string why;
};

// One thread is stepped at a time: the publishing one. Only the report is read by another, after
// it.
struct Stepper {
  static constexpr uint32_t kFrames = 4096;
  static constexpr int kWrongKept = 8;
  // In generated code, each time: native code between them uses most of the budget.
  static constexpr int kStepsAtOnce = 3000;

  PathChecker* paths = nullptr;
  uint64_t budget = 0;
  int left = 0;
  std::atomic<uint64_t> walked{0}, wrong{0};
  WrongChain kept[kWrongKept];
  Frame storage[kFrames], frames[kFrames + 1];
};
Stepper stepper;

// The chain of a thread interrupted at `context`, walked with or without the results of earlier
// walks.
void Check(const samples::SampleHandlerConfig& state, samples::ThreadSlot& slot,
           const ucontext_t* context, bool remember) {
  const samples::WalkedThread thread{slot.java_thread.load(),
                                     {slot.stack_low.load(), slot.stack_high.load()},
                                     remember ? slot.last_walk : nullptr,
                                     &slot.remembered_frames};
  Chain chain(stepper.storage, Stepper::kFrames);
  samples::WalkStack(state.vm, thread, context, chain);
  chain.CopyTo(stepper.frames, Stepper::kFrames);
  const samples::Identity identity = samples::CurrentJavaThread(state, slot);
  samples::SampleHeader header{};
  if (identity.known) {
    const signal_safe::Position position = ReadPublishedPath(identity.java_tid);
    header.node = position.node;
    header.position_known = position.known;
  }
  header.end = chain.end();
  header.frame_count = chain.SizeWithin(Stepper::kFrames);
  // Generated code was interrupted, so the thread is not in the allocator: strings are allowed.
  const std::string why = stepper.paths->Check({header, 0, stepper.frames});
  ++stepper.walked;
  if (why.empty() && chain.end() == samples::ChainEnd::kRoot) return;
  const uint64_t number = stepper.wrong++;
  if (number >= Stepper::kWrongKept) return;
  WrongChain& kept = stepper.kept[number];
  kept.pc = static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
  kept.end = chain.end();
  kept.count = std::min<uint32_t>(header.frame_count, std::size(kept.frames));
  std::copy(stepper.frames, stepper.frames + kept.count, kept.frames);
  kept.why = why;
}

void HandleStep(int, siginfo_t*, void* data) {
  auto* const context = static_cast<ucontext_t*>(data);
  const samples::SampleHandlerConfig* const state = samples::sample_handler_config.load();
  samples::ThreadSlot* const slot = samples::tls_thread_slot;
  if (stepper.left <= 0 || stepper.budget == 0 || state == nullptr || !state->active ||
      slot == nullptr) {
    context->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    return;
  }
  context->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
  --stepper.budget;
  const auto pc = static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
  if (slot->in_handler || !state->vm->InCodeCache(pc)) return;
  --stepper.left;
  slot->in_handler = true;
  Check(*state, *slot, context, false);
  Check(*state, *slot, context, true);
  slot->in_handler = false;
}

}  // namespace

void EnableStepping(PathChecker* paths, uint64_t budget) {
  stepper.paths = paths;
  stepper.budget = budget;
  struct sigaction action {};
  action.sa_sigaction = HandleStep;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  // A sample of this handler's return would be one of a place that programs do not have.
  sigaddset(&action.sa_mask, SIGPROF);
  sigaction(SIGTRAP, &action, nullptr);
}

void StepOn() {
  if (stepper.budget == 0) return;
  stepper.left = Stepper::kStepsAtOnce;
  // The handler does it: the flag cannot be set here without moving rsp.
  raise(SIGTRAP);
}

bool SteppedRight() {
  return stepper.paths == nullptr || (stepper.wrong == 0 && stepper.walked != 0);
}

void PrintSteps(FILE* out, void (*print_frames)(FILE*, const samples::Frame*, uint32_t)) {
  if (stepper.paths == nullptr) return;
  fprintf(out, "stepped: chains walked %lu, wrong %lu; %s\n", stepper.walked.load(),
          stepper.wrong.load(), stepper.paths->Summary().c_str());
  const uint64_t kept = std::min<uint64_t>(stepper.wrong, Stepper::kWrongKept);
  for (uint64_t i = 0; i < kept; ++i) {
    const WrongChain& wrong = stepper.kept[i];
    fprintf(out, "wrong at %lx, end %d: %s\n", wrong.pc, static_cast<int>(wrong.end),
            wrong.why.c_str());
    print_frames(out, wrong.frames, wrong.count);
  }
}

}  // namespace jtrace::walker_test
