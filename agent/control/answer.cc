#include "agent/control/answer.h"

#include <errno.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

int ExitCode(const absl::Status& status) {
  if (status.ok()) return kExitDone;
  return status.code() == absl::StatusCode::kInvalidArgument ? kExitUsage : kExitFailed;
}

}  // namespace

bool AnswerMemory::Reserve(size_t bytes) {
  if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_) return true;
  Release(bytes);
  return false;
}

Answer::~Answer() { memory_.Release(taken_); }

void Answer::Add(char kind, absl::string_view text) {
  const std::lock_guard lock(mutex_);
  const bool lags = sent_ != unsent_.size();
  if (kind == kProgressLine && lags) return;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    is_cut_ = is_cut_ || !AddLine(kind, line);
  }
}

bool Answer::AddLine(char kind, absl::string_view line) {
  const size_t bytes = line.size() + 2;
  if (kind != kProgressLine) {
    if (added_ + bytes > most_ || !memory_.Reserve(bytes)) return false;
    taken_ += bytes;
    added_ += bytes;
  }
  absl::StrAppend(&unsent_, absl::string_view(&kind, 1), line, "\n");
  return true;
}

// The last lines are short, and are added even if the limits are reached.
void Answer::Finish(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  constexpr size_t kMaxReasonBytes = 4096;
  const auto fail = [&](absl::string_view why) {
    for (const absl::string_view line : absl::StrSplit(why.substr(0, kMaxReasonBytes), '\n')) {
      absl::StrAppend(&unsent_, absl::string_view(&kErrorLine, 1), line, "\n");
    }
  };
  if (!status.ok()) {
    if (ExitCode(status) == kExitFailed) {
      absl::StrAppend(&unsent_, absl::string_view(&kReasonLine, 1), status.raw_code(), "\n");
    }
    fail(status.message());
  }
  if (is_cut_) {
    fail(absl::StrCat("the answer is cut off: more than ", most_,
                      " bytes, or other clients do not read theirs"));
  }
  absl::StrAppend(&unsent_, is_cut_ ? kExitFailed : ExitCode(status), "\n");
  is_finished_ = true;
}

bool Answer::SendTo(int connection) {
  const std::lock_guard lock(mutex_);
  while (sent_ < unsent_.size()) {
    // No SIGPIPE, however the program handles it.
    const ssize_t n = send(connection, unsent_.data() + sent_, unsent_.size() - sent_,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n <= 0) return false;
    sent_ += static_cast<size_t>(n);
  }
  unsent_.clear();
  sent_ = 0;
  memory_.Release(taken_);
  taken_ = 0;
  return true;
}

bool Answer::has_unsent() const {
  const std::lock_guard lock(mutex_);
  return sent_ < unsent_.size();
}

bool Answer::is_sent() const {
  const std::lock_guard lock(mutex_);
  return is_finished_ && sent_ == unsent_.size();
}

bool Answer::is_finished() const {
  const std::lock_guard lock(mutex_);
  return is_finished_;
}

}  // namespace jtrace::control
