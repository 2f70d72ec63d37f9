// Readers of the exports' formats, written only from the formats' descriptions: they share no code
// with the writers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace jtrace::testing {

// A call path, its thread's name first, with its self value.
using PathValues = std::map<std::vector<std::string>, int64_t>;

PathValues ParseCollapsed(std::string_view text);

// The content of a Speedscope file.
struct SpeedscopeFile {
  std::string unit;  // of all profiles
  PathValues values;
  // Profiles whose endValue is not the sum of their weights.
  int wrong_ends = 0;
};
SpeedscopeFile ParseSpeedscope(std::string_view text);

// The content of a pprof profile.
struct PprofFile {
  struct Function {
    std::string name;
    std::string file;
    std::string module;
  };
  std::vector<std::pair<std::string, std::string>> types;  // type and unit
  std::string default_type;
  std::pair<std::string, std::string> period_type;
  int64_t period = 0;
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  std::vector<std::string> comments;
  // By type. Frames of threads ("[threads]" is their file) are not part of the paths.
  std::map<std::string, PathValues> values;
  // The same where frames have the line from which they call: "A.run():120".
  std::map<std::string, PathValues> values_by_line;
  // By key, every value that a sample has.
  std::map<std::string, std::map<std::string, int>> labels;
  // Values by type, of the samples that have a label: "tenant=acme".
  std::map<std::string, std::map<std::string, int64_t>> labelled;
  std::vector<Function> functions;
  // The errors that a strict reader would report; empty if the profile is valid.
  std::vector<std::string> mistakes;
};
PprofFile ParsePprof(std::string_view gzipped);

// The content of OpenTelemetry's profiles.
struct OtlpFile {
  struct Profile {
    std::pair<std::string, std::string> type;  // and unit
    std::pair<std::string, std::string> period_type;
    int64_t period = 0;
    int64_t time_ns = 0;
    int64_t duration_ns = 0;
    std::string id;                           // its bytes
    PathValues values;                        // frames with lines: "A.run():120"
    std::map<std::string, int64_t> labelled;  // by attribute: "tenant=acme"
  };
  std::string scope;
  std::map<std::string, std::string> resource;  // attributes
  std::vector<Profile> profiles;
  std::map<std::string, std::string> modules;  // by frame
  std::vector<std::string> mistakes;
};
OtlpFile ParseOtlp(std::string_view bytes);

// A function at one recursion level, "file:name" as callgrind_annotate names it.
using Costs = std::vector<int64_t>;
// The content of a callgrind file.
struct CallgrindFile {
  struct Arc {
    int64_t calls = 0;
    Costs inclusive;
  };
  std::vector<std::string> events;
  std::vector<std::string> descriptions;
  Costs summary;
  Costs totals;
  std::map<std::string, Costs> self;
  std::map<std::pair<std::string, std::string>, Arc> arcs;                    // caller and callee
  std::map<std::tuple<std::string, std::string, int64_t>, Arc> arcs_by_line;  // of the caller
  std::map<std::string, std::string> objects;
  std::vector<std::string> mistakes;

  int Event(std::string_view name) const;  // its index, or -1
};
CallgrindFile ParseCallgrind(std::string_view text);

// A JSON trace-event file, replayed: slices nest within their track by the order of their times.
struct Timeline {
  struct Instant {
    std::string thread;
    std::string category;
    std::string name;
    std::string stack;
    int64_t weight = 0;
    double time_us = 0;
  };
  std::map<int64_t, std::string> processes;  // by pid
  std::vector<std::string> threads;
  // Nanoseconds by path, the thread's name first: of all slices of that path together.
  PathValues durations;
  std::map<std::string, int> categories;  // slices by category
  std::vector<Instant> instants;
  std::map<std::string, int64_t> last_totals;  // of counters, by name
  std::map<std::string, std::string> about;
  std::vector<std::string> mistakes;
};
Timeline ParseTimeline(std::string_view text);

std::string Gunzip(std::string_view bytes);

}  // namespace jtrace::testing
