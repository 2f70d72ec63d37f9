#include "agent/control/connection.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/control_protocol.h"

namespace jtrace::control {

short Connection::PollEvents() const {
  if (!has_line_) return POLLIN;
  return answer_ != nullptr && answer_->has_unsent() ? POLLOUT : 0;
}

bool Connection::Serve(const Service& service, absl::Time now) {
  if (!fd_.IsOurs()) return false;  // the program closed it
  if (!has_line_ && !Read(service, now)) return false;
  if (WaitsForRoom()) Submit(service);
  if (answer_ == nullptr) {
    if (now < deadline_) return true;
    Refuse(service,
           absl::InvalidArgumentError(absl::StrCat("no complete request arrived within ",
                                                   absl::FormatDuration(service.limits.for_request),
                                                   " of connecting")),
           now);
  }
  if (!answer_->SendTo(fd_.get())) return false;
  if (!answer_->is_finished()) return true;
  if (answer_->is_sent()) return false;
  deadline_ = std::min(deadline_, now + service.limits.for_answer);
  return now < deadline_;
}

// False: the client has disconnected.
bool Connection::Read(const Service& service, absl::Time now) {
  std::string& line = received_;
  while (line.size() < kMaxRequest) {
    char buffer[4096];
    const size_t room = std::min(sizeof(buffer), kMaxRequest - line.size());
    const ssize_t n = read(fd_.get(), buffer, room);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (n == 0) {
      if (line.empty()) return false;
      Refuse(service, absl::InvalidArgumentError("the request does not end in a line feed"), now);
      return true;
    }
    line.append(buffer, static_cast<size_t>(n));
    if (const size_t end = line.find('\n'); end != std::string::npos) {
      line.resize(end);
      has_line_ = true;
      deadline_ = absl::InfiniteFuture();
      return true;
    }
  }
  Refuse(service,
         absl::InvalidArgumentError(
             absl::StrCat("the request is longer than ", kMaxRequest, " bytes")),
         now);
  return true;
}

void Connection::Submit(const Service& service) {
  Request request = {received_,
                     std::make_shared<Answer>(service.limits.answer_bytes, service.memory)};
  const std::shared_ptr<Answer> answer = request.answer;
  if (!service.queue.Add(request)) return;  // there will be room
  answer_ = answer;
  received_.clear();
}

void Connection::Refuse(const Service& service, const absl::Status& why, absl::Time now) {
  has_line_ = true;
  received_.clear();
  answer_ = std::make_shared<Answer>(service.limits.answer_bytes, service.memory);
  answer_->Finish(why);
  deadline_ = now + service.limits.for_answer;
}

}  // namespace jtrace::control
