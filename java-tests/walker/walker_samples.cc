#include "java-tests/walker/walker_samples.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "agent/samples/handler/full_walk_check.h"
#include "agent/samples/handler/sample_handler.h"
#include "java-tests/walker/stepper.h"

namespace jtrace::walker_test {
namespace {

using samples::ChainEnd;
using samples::Frame;
using samples::FrameKind;

std::string MethodName(uint64_t id) {
  char *name = nullptr, *signature = nullptr;
  jclass declaring;
  auto* const method = reinterpret_cast<jmethodID>(id);
  if (agent->jvmti->GetMethodName(method, &name, nullptr, nullptr) != JVMTI_ERROR_NONE) return "?";
  std::string text = name;
  if (agent->jvmti->GetMethodDeclaringClass(method, &declaring) == JVMTI_ERROR_NONE &&
      agent->jvmti->GetClassSignature(declaring, &signature, nullptr) == JVMTI_ERROR_NONE) {
    text = std::string(signature) + text;
  }
  return text;
}

std::string Describe(const Frame& frame, bool names) {
  char text[300];
  const char* const kinds[] = {"?",      "interpreted", "compiled", "inlined",
                               "native", "stub",        "kernel",   "marker"};
  std::string name;
  switch (frame.kind) {
    case FrameKind::kMarker:
      name = samples::MissingReasonName(static_cast<samples::MissingReason>(frame.value));
      break;
    case FrameKind::kStub:
      name = agent->sampler->jvm().stubs().Name(frame.value);
      break;
    case FrameKind::kNative: {
      Dl_info info{};
      if (dladdr(reinterpret_cast<void*>(frame.value), &info) != 0) {
        name = std::string(info.dli_sname != nullptr ? info.dli_sname : "") + " " + info.dli_fname;
      }
      break;
    }
    default:
      if (names && (frame.flags & samples::kFrameRawMethod) == 0) name = MethodName(frame.value);
  }
  snprintf(text, sizeof text, "%-11s %016lx bci %d flags %x %s",
           kinds[static_cast<int>(frame.kind)], frame.value, frame.bci, frame.flags, name.c_str());
  return text;
}

void Dump(const samples::SampleView& sample, bool names) {
  fprintf(stderr, "walker_agent: chain of %u frames, end %d, thread %d\n",
          sample.header.frame_count, static_cast<int>(sample.header.end), sample.header.os_tid);
  for (uint32_t i = 0; i < sample.header.frame_count; ++i) {
    if (i == 25 && sample.header.frame_count > 40) {
      fprintf(stderr, "   …\n");
      i = sample.header.frame_count - 12;
    }
    fprintf(stderr, "   %s\n", Describe(sample.frames[i], names).c_str());
  }
}

void PrintFrames(FILE* out, const Frame* frames, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) fprintf(out, "   %s\n", Describe(frames[i], true).c_str());
}

void PrintDifferentChains(FILE* out) {
  const samples::DifferentChains& chains = samples::different_chains;
  if (!chains.ready.load(std::memory_order_acquire)) return;
  fprintf(out, "the first chains that differed, interrupted at %lx\n", chains.pc);
  fprintf(out, "with remembered frames:\n");
  PrintFrames(out, chains.remembered, chains.remembered_count);
  fprintf(out, "in full:\n");
  PrintFrames(out, chains.full, chains.full_count);
}

}  // namespace

void Take(const samples::SampleView& sample, bool names) {
  Agent& a = *agent;
  ++a.samples;
  a.weight += sample.header.weight;
  a.frames += sample.header.frame_count;
  a.deepest = std::max<uint64_t>(a.deepest, sample.header.frame_count);
  ++a.ends[static_cast<int>(sample.header.end)];
  bool java = false;
  for (uint32_t i = 0; i < sample.header.frame_count; ++i) {
    const Frame& frame = sample.frames[i];
    if ((frame.flags & samples::kFrameRawMethod) != 0) ++a.raw_methods;
    java |= frame.kind == FrameKind::kInterpreted || frame.kind == FrameKind::kCompiled;
  }
  a.java_samples += java;
  const bool root = sample.header.end != ChainEnd::kFailed;
  a.java_roots += java && root;
  if (!root) {
    const uint32_t n = sample.header.frame_count;
    std::string what = Describe(sample.frames[n - 1], false);
    if (n > 1) what += " <- " + Describe(sample.frames[n - 2], false);
    ++a.failures[what];
    if (a.dumped++ < a.settings.dump) Dump(sample, names);
  }
  const std::string mismatch = a.paths.Check(sample);
  if (!mismatch.empty() && a.dumped++ < a.settings.dump) {
    fprintf(stderr, "walker_agent: %s\n", mismatch.c_str());
    Dump(sample, names);
  }
}

void PrintReport(FILE* out) {
  const Agent& a = *agent;
  const auto percent = [](uint64_t part, uint64_t whole) {
    return whole != 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 100.0;
  };
  const uint64_t roots = a.samples - a.ends[static_cast<int>(ChainEnd::kFailed)];
  fprintf(out,
          "samples %lu weight %lu root %.3f%% (certain %.3f%%, guessed %lu, with hole %lu) "
          "java root %.3f%% of %lu; frames avg %.1f max %lu; raw methods %lu\n",
          a.samples, a.weight, percent(roots, a.samples), percent(a.ends[0], a.samples), a.ends[1],
          a.ends[2], percent(a.java_roots, a.java_samples), a.java_samples,
          a.samples != 0 ? static_cast<double>(a.frames) / static_cast<double>(a.samples) : 0.0,
          a.deepest, a.raw_methods);
  const samples::HandlerCost cost = a.sampler->Cost();
  fprintf(out, "handler ns: avg %lu p50 %lu p99 %lu; timer %s\n", cost.average_ns, cost.p50_ns,
          cost.p99_ns,
          a.sampler->timer_in_use() == samples::TimerKind::kCpuPerf ? "perf" : "posix");
  if (a.settings.sampler.check_last_walk) {
    fprintf(out, "chains compared with a full walk: %lu\n",
            samples::sample_counters.last_walk_checked.load());
  }
  for (const auto& loss : a.sampler->Losses()) {
    fprintf(out, "loss %s %lu\n", loss.name.c_str(), loss.count);
  }
  for (const auto& [what, count] : a.failures) {
    fprintf(out, "failed %lu: %s\n", count, what.c_str());
  }
  fprintf(out, "%s\n", a.paths.Summary().c_str());
  PrintDifferentChains(out);
  PrintSteps(out, PrintFrames);
}

void CheckResult() {
  const Agent& a = *agent;
  const uint64_t failed = a.ends[static_cast<int>(ChainEnd::kFailed)];
  const double root = 100.0 * static_cast<double>(a.samples - failed) /
                      static_cast<double>(std::max<uint64_t>(a.samples, 1));
  const bool enough = a.samples >= a.settings.min_samples;
  // Chains that are cut short cannot be compared: of the others there must be some.
  const bool any_checked = samples::sample_counters.last_walk_checked.load() != 0;
  const bool remembered_right = samples::sample_counters.last_walk_wrong.load() == 0 &&
                                (any_checked || !a.settings.sampler.check_last_walk);
  const bool reports_ended = a.settings.reports || a.unreported;
  if (enough && reports_ended && remembered_right && SteppedRight() &&
      root >= a.settings.min_root && a.paths.Ok(a.settings.max_inexact, a.settings.max_unequal))
    return;
  fprintf(stderr, "walker_agent: FAILED: %lu samples, %.3f%% reach the root%s\n", a.samples, root,
          reports_ended ? "" : "; compiled methods were still reported");
  PrintReport(stderr);
  _exit(3);
}

}  // namespace jtrace::walker_test
