// Collects the records of JVMTI callbacks and of the writer thread in the chunk being built.
//
// Any thread, but not in a signal handler. One mutex (a std one: the thread sanitizer sees it),
// which is a leaf: nothing is called under it that could block, so that a GC event at a safepoint
// never waits for a thread that the safepoint holds.
//
// The numbers of classes, routines and methods are valid until the class is unloaded (Forget). A
// second trace of the process (BeginTrace) and the next file of a trace (BeginFile) define them
// again when a record names them. Threads' numbers are valid for one trace, strings' for one file.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "agent/base/event_code_set.h"
#include "agent/base/losses.h"
#include "agent/trace/definition_table.h"
#include "trace.pb.h"

namespace jtrace::trace {

// A thread's definition in the trace.
struct ThreadInfo {
  std::string name = {};
  int64_t os_tid = 0;
  int64_t java_tid = 0;
  bool is_virtual = false;
  bool is_daemon = false;
  bool is_vm_internal = false;
};

// An event of a thread; `major` and `minor` are its code (proto/FORMAT.md, "Codes").
struct EventRecord {
  uint64_t time_ns = 0;
  uint32_t thread = 0;
  uint32_t major = 0;
  uint32_t minor = 0;
  int64_t value = 0;
  absl::string_view text = {};
};

class RecordEncoder {
 public:
  // Events whose code is not in `codes` are not recorded (codes=).
  explicit RecordEncoder(const EventCodeSet& codes);
  RecordEncoder(const RecordEncoder&) = delete;

  // Replaces the codes that are recorded from now on.
  void SetCodes(const EventCodeSet& codes);
  // Begins a trace after another one ended. Its first chunk defines all strings. Threads are
  // numbered from 1 again.
  void BeginTrace(const EventCodeSet& codes);
  // Ends the trace. Until BeginTrace, numbers are assigned, but nothing is kept for writing.
  void EndTrace();
  // Makes the next chunk begin a new file of the same trace: pending events stay, and all strings
  // and living threads are defined again.
  void BeginFile();

  // Returns the number of a thing. A string is defined when its number is first requested, a class
  // or a method when a record names it.
  uint32_t String(absl::string_view text);
  uint32_t ClassNumber(absl::string_view binary_name, uint32_t loader);
  uint32_t RoutineNumber(uint32_t class_id, absl::string_view name, absl::string_view descriptor);
  // Returns the number of a routine that is not a method with its own probes. `is_foreign`: code of
  // another loader has the site, so the class is never forgotten.
  uint32_t RoutineNumber(const RoutineInfo& info, bool is_foreign = false);
  // `routine`: the method's number as a routine if it has one, else 0.
  struct MethodNumbers {
    uint32_t method = 0;
    uint32_t routine = 0;
  };
  MethodNumbers MethodIdsOf(uint32_t class_id, absl::string_view name,
                            absl::string_view descriptor);
  uint32_t MethodNumber(uint32_t class_id, absl::string_view name, absl::string_view descriptor);
  // False for a site (RoutineInfo), and for a routine that was forgotten.
  bool IsMethod(uint32_t routine);
  // All routines that have numbers, in any order. `visit` must not block: see the class comment.
  void ForEachRoutine(absl::FunctionRef<void(uint32_t, const RoutineText&)> visit);
  // Defines what is named by records that the encoder does not see.
  void DefineRoutines(absl::Span<const uint32_t> routines);
  void DefineMethod(uint32_t method);
  void DefineClass(uint32_t class_id);
  // Defines the set of labels with that number (LabelSets).
  void DefineLabels(uint32_t id, const Labels& labels);
  // Defines every method with probes of these classes, whether or not it was called.
  void DefineRoutinesOf(const absl::flat_hash_set<uint32_t>& classes);
  // Numbers a thread and defines it; Thread.id.
  uint32_t DefineThread(const ThreadInfo& info);
  // Makes BeginFile leave out a thread that has ended and has no more records.
  void ForgetThread(uint32_t thread);
  // Forgets unloaded classes, by number or by loader. Returns those that were forgotten.
  std::vector<ForgottenClass> Forget(const absl::flat_hash_set<uint32_t>& classes,
                                     const absl::flat_hash_set<uint32_t>& loaders);

  // Whether events of this code are recorded now.
  bool Wants(uint32_t major, uint32_t minor) const;
  // These add an event, unless its code is not recorded, and define what it names.
  void AddEvent(const EventRecord& event);
  void AddClassEvent(const EventRecord& event, proto::ClassEvent details);
  void AddCodeEvent(const EventRecord& event, proto::CodeEvent details);
  void AddWaitEvent(const EventRecord& event, const proto::WaitEvent& details);
  void AddAllocationEvent(const EventRecord& event, const proto::AllocationEvent& details);

  // The greatest number of a routine so far.
  uint64_t routines() const;
  // How many classes are known.
  size_t classes() const;
  // Approximate bytes of the chunk being built: the writer seals early when it grows large.
  size_t pending_bytes() const;

  // Takes the chunk built so far; the caller adds trees, samples and losses and writes it.
  proto::Chunk Take();

 private:
  // Holds mutex_. If an exception leaves its scope (no memory), a chunk or a table may be half
  // changed: every later Lock throws std::bad_alloc, also in threads that wait for it already.
  class Lock {
   public:
    explicit Lock(const RecordEncoder& encoder);
    ~Lock();

   private:
    const std::lock_guard<std::mutex> lock_;
    bool& is_broken_;
    const int exceptions_;
  };

  proto::Event* AddEventLocked(const EventRecord& event);
  bool Wanted(const EventRecord& event) const {
    return open_ && codes_.HasRecord(event.major, event.minor);
  }
  // Keeps pending events, and drops everything else that is pending.
  void BeginFileLocked();
  // Defines the classes, methods and routines that the event names.
  void DefineNamesOf(const proto::Event& event);

  mutable std::mutex mutex_;  // guards all below
  mutable bool is_broken_ = false;
  EventCodeSet codes_;
  bool open_ = true;
  proto::Chunk chunk_;
  // The approximate size of the chunk's events, and definitions_.bytes() when the chunk began.
  size_t event_bytes_ = 0;
  size_t defined_before_ = 0;
  DefinitionTable definitions_;
  uint32_t threads_ = 0;
  absl::btree_map<uint32_t, proto::Thread> live_threads_;
};

}  // namespace jtrace::trace
