#include "native-tests/support/log_trace.h"

#include <algorithm>
#include <random>
#include <vector>

#include "native-tests/support/trace_builder.h"

namespace jtrace::testing {
namespace {

constexpr size_t kMaxDepth = 40;

struct CallSite {
  uint32_t callee = 0;
  uint32_t most_repeats = 1;  // a loop makes up to that many calls
  uint32_t one_in = 1;        // how often it is reached
};
using Program = std::vector<std::vector<CallSite>>;  // call sites by routine

Program MakeProgram(int routines, std::mt19937& random) {
  Program program(static_cast<size_t>(routines));
  for (size_t i = 0; i < program.size(); ++i) {
    const size_t room = program.size() - i - 1;
    // One in three routines calls nothing, except the first ones, where threads begin.
    const bool is_leaf = room == 0 || (i >= 20 && random() % 3 == 0);
    for (uint32_t left = is_leaf ? 0 : 2 + random() % 4; left > 0; --left) {
      CallSite site;
      site.callee = static_cast<uint32_t>(i + 1 + random() % std::min<size_t>(room, 60));
      if (random() % 20 == 0) site.callee = static_cast<uint32_t>(i - random() % (i + 1));
      site.most_repeats = random() % 4 == 0 ? 2 + random() % 20 : 1;
      site.one_in = random() % 2 == 0 ? 1 : 2 + random() % 6;
      program[i].push_back(site);
    }
  }
  return program;
}

// Runs a program without end, event by event.
class Thread {
 public:
  Thread(const Program& program, uint32_t main, uint32_t seed)
      : program_(program), main_(main), random_(seed) {}

  size_t depth() const { return stack_.size(); }

  // The next op of an EventLog; with `unwind`, only exits.
  uint32_t Step(bool unwind) {
    if (stack_.empty()) return Enter(main_);
    Activation& top = stack_.back();
    const std::vector<CallSite>& body = program_[top.routine];
    while (!unwind && stack_.size() < kMaxDepth && top.site < body.size()) {
      const CallSite& site = body[top.site];
      if (top.repeats == 0) {
        top.repeats = random_() % site.one_in != 0 ? 0 : 1 + random_() % site.most_repeats;
        if (top.repeats == 0) {
          ++top.site;
          continue;
        }
      }
      if (--top.repeats == 0) ++top.site;
      return Enter(site.callee);
    }
    const uint32_t op = (top.routine + 1) << format::kLogRoutineShift | format::kLogExit | 1;
    stack_.pop_back();
    return op;
  }
  uint64_t Delta() { return 4 + random_() % (random_() % 8 == 0 ? 900 : 90); }

 private:
  struct Activation {
    uint32_t routine = 0;
    size_t site = 0;
    uint32_t repeats = 0;
  };
  uint32_t Enter(uint32_t routine) {
    stack_.push_back({routine, 0, 0});
    return (routine + 1) << format::kLogRoutineShift | 1;
  }

  const Program& program_;
  const uint32_t main_;
  std::mt19937 random_;
  std::vector<Activation> stack_;
};

}  // namespace

std::string LogTrace(const LogTraceOptions& options) {
  std::mt19937 random(7);
  const Program program = MakeProgram(options.routines, random);
  TraceBuilder builder;
  for (int i = 0; i < options.routines; ++i) {
    builder.Routine(builder.Class("org.example.Class" + std::to_string(i / 10)),
                    "method" + std::to_string(i), "(I)V");
  }
  std::vector<Thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    builder.Thread("worker-" + std::to_string(i), 100 + i);
    threads.emplace_back(program, static_cast<uint32_t>(i), static_cast<uint32_t>(i));
  }
  uint64_t time = 0;
  uint64_t in_chunk = 0;
  const uint64_t per_thread = options.events / static_cast<uint64_t>(options.threads);
  for (uint64_t done = 0; done < per_thread; done += options.events_a_log) {
    const uint64_t start = time;
    const bool last = done + options.events_a_log >= per_thread;
    for (size_t i = 0; i < threads.size(); ++i) {
      proto::EventLog& log = *builder.chunk().add_log();
      log.set_thread(static_cast<uint32_t>(i + 1));
      log.set_time_ns(start);
      uint64_t at = start;
      for (uint64_t n = 0; n < options.events_a_log || (last && threads[i].depth() > 0); ++n) {
        log.add_op(threads[i].Step(last));
        if (options.clock) log.add_delta_ns(threads[i].Delta());
        if (options.clock) at += log.delta_ns(log.delta_ns_size() - 1);
        if (last && threads[i].depth() == 0) break;
      }
      time = std::max(time, at);
      in_chunk += static_cast<uint64_t>(log.op_size());
    }
    if (in_chunk >= options.events_a_chunk) {
      builder.Seal();
      in_chunk = 0;
    }
  }
  builder.chunk().mutable_session_end()->set_reason(proto::SessionEnd::VM_DEATH);
  return builder.Finish();
}

}  // namespace jtrace::testing
