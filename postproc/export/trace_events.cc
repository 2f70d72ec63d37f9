#include "postproc/export/trace_events.h"

#include "absl/strings/str_format.h"
#include "common/json_writer.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr size_t kFlushBytes = 1 << 16;
// The limit of what is kept before Commit. Traces with entries and exits have some before that much
// of other events.
constexpr size_t kMostHeld = 1 << 24;

}  // namespace

void TraceEvents::Open(std::string_view phase, Track track) {
  buffer_ += any_ ? ",\n" : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  any_ = true;
  StrAppend(&buffer_, "{\"ph\":\"", phase, "\",\"pid\":", track.pid, ",\"tid\":", track.tid);
}

// The format's times are microseconds, with a fraction.
void TraceEvents::Time(int64_t time, std::string_view key) {
  StrAppend(&buffer_, ",\"", key, "\":");
  const TimeUnit unit = model_.unit();
  if (unit != TimeUnit::kNanoseconds) {
    StrAppend(&buffer_, time, unit == TimeUnit::kMilliseconds && time != 0 ? "000" : "");
    return;
  }
  uint64_t size = static_cast<uint64_t>(time);
  if (time < 0) {
    buffer_.push_back('-');
    size = 0 - size;
  }
  StrAppend(&buffer_, size / 1000);
  if (const uint64_t rest = size % 1000; rest != 0) {
    const char digits[] = {'.', static_cast<char>('0' + rest / 100),
                           static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
    buffer_.append(digits, sizeof digits);
  }
}

void TraceEvents::Close(std::string_view args) {
  if (!args.empty()) StrAppend(&buffer_, ",\"args\":", args);
  buffer_.push_back('}');
  if (buffer_.size() >= kFlushBytes) Flush();
}

void TraceEvents::Flush() {
  if (committed_) {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  } else if (buffer_.size() >= kMostHeld) {
    buffer_.clear();
    lost_ = true;
  }
}

bool TraceEvents::Commit() {
  committed_ = !lost_;
  return committed_;
}

void TraceEvents::Begin(Track track, int64_t time, std::string_view name, std::string_view category,
                        std::string_view args) {
  Open("B", track);
  Time(time);
  if (!category.empty()) StrAppend(&buffer_, ",\"cat\":\"", category, "\"");
  StrAppend(&buffer_, ",\"name\":", name);
  Close(args);
}

void TraceEvents::End(Track track, int64_t time, std::string_view name) {
  Open("E", track);
  Time(time);
  StrAppend(&buffer_, ",\"name\":", name);
  Close({});
}

void TraceEvents::Slice(Track track, int64_t time, int64_t length, std::string_view name,
                        std::string_view category) {
  Open("X", track);
  Time(time);
  Time(length, "dur");
  StrAppend(&buffer_, ",\"cat\":\"", category, "\",\"name\":", name);
  Close({});
}

void TraceEvents::Instant(Track track, int64_t time, std::string_view name,
                          std::string_view category, std::string_view args) {
  Open("i", track);
  Time(time);
  StrAppend(&buffer_, ",\"s\":\"t\",\"cat\":\"", category, "\",\"name\":", name);
  Close(args);
}

void TraceEvents::Counter(int64_t pid, int64_t time, std::string_view name, int64_t value) {
  Open("C", {pid, 0});
  Time(time);
  StrAppend(&buffer_, ",\"name\":", name);
  Close(StrCat("{\"total\":", value, "}"));
}

void TraceEvents::Name(Track track, std::string_view what, std::string_view name) {
  Open("M", track);
  StrAppend(&buffer_, ",\"name\":\"", what, "\"");
  Close(StrCat("{\"name\":", name, "}"));
}

void TraceEvents::Finish(const std::vector<std::pair<std::string, std::string>>& about) {
  buffer_ += "\n],\"otherData\":{";
  std::string_view separator;
  for (const auto& [key, value] : about) {
    StrAppend(&buffer_, separator, JsonString(key), ":", JsonString(value));
    separator = ",";
  }
  buffer_ += "}}\n";
  Flush();
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  out_.flush();
}

}  // namespace jtrace::postproc
