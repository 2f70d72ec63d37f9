// Writes the JSON trace-event format that ui.perfetto.dev and chrome://tracing read.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// Where an event is shown: both numbers are defined by the format.
struct Track {
  int64_t pid = 0;
  int64_t tid = 0;
};

// Nothing reaches the output before Commit: earlier events are kept, up to a limit, beyond which
// all are lost.
class TraceEvents {
 public:
  // Times are in the model's unit, which is known from the first record on; ticks, which have no
  // length, are shown as microseconds.
  TraceEvents(const TraceModel& model, std::ostream& out) : model_(model), out_(out) {}

  // Names and arguments are JSON already: "\"A.run()\"", "{\"weight\":1}"; arguments and category
  // may be empty.
  void Begin(Track track, int64_t time, std::string_view name, std::string_view category,
             std::string_view args);
  // Of the slice of that name, which some readers require.
  void End(Track track, int64_t time, std::string_view name);
  // A slice that has ended.
  void Slice(Track track, int64_t time, int64_t length, std::string_view name,
             std::string_view category);
  void Instant(Track track, int64_t time, std::string_view name, std::string_view category,
               std::string_view args);
  void Counter(int64_t pid, int64_t time, std::string_view name, int64_t value);
  // `what`: "process_name", "thread_name".
  void Name(Track track, std::string_view what, std::string_view name);

  // Writes the kept events, and later ones as they arrive. False if something was lost before.
  bool Commit();
  bool committed() const { return committed_; }
  // Key and value, for people: after the events, because only then all is known.
  void Finish(const std::vector<std::pair<std::string, std::string>>& about);

 private:
  void Open(std::string_view phase, Track track);
  void Time(int64_t time, std::string_view key = "ts");
  void Close(std::string_view args);
  void Flush();

  const TraceModel& model_;
  std::ostream& out_;
  std::string buffer_;
  bool committed_ = false;
  bool lost_ = false;
  bool any_ = false;
};

}  // namespace jtrace::postproc
