// Runs the commands of `jtrace` on the session of this JVM, and keeps its recording's deadlines.
#pragma once

#include <jni.h>

#include <string>

#include "agent/control/server.h"
#include "agent/session/command_context.h"

namespace jtrace {

class JvmSession;

class SessionControl : public control::Commands {
 public:
  // `session` must live forever.
  SessionControl(JavaVM* vm, JvmSession& session) : vm_(vm), session_(session) {}

  // Starts the server. `listen`: on a socket; else it only keeps the deadlines. Once, before all
  // below; from then on this object must live forever, even if this throws (Server::Start).
  void StartServer(bool listen);

  absl::Status Run(absl::string_view verb, absl::string_view argument, Reply reply) override;
  absl::Time RunDueWork() override;
  void ThreadStarted(pid_t tid) override;
  void UseServer(control::Server& server) override { control_thread_server_ = &server; }

  // See Server.
  void Wake() { server_->Wake(); }
  void Close() { server_->Close(); }
  const absl::Status& problem() const { return server_->problem(); }

 private:
  // Does what the recording has to do by now. Returns when there may be more to do.
  absl::Time CarryOut();
  absl::Status Start(absl::string_view options, Reply reply);
  absl::Status Hook(absl::string_view specs, Reply reply);
  absl::Status Resume(Reply reply);
  absl::Status Stop(Reply reply);
  absl::Status Metrics(absl::string_view options, Reply reply);

  // Returns the caller of a start or a stop on this thread.
  CommandContext ContextFor(Reply reply);
  bool Pause(absl::Duration time, CommandContext::ServedRequests served);

  JavaVM* const vm_;
  JvmSession& session_;
  control::Server* server_ = nullptr;
  // The same for the control thread, which begins before server_ is set.
  control::Server* control_thread_server_ = nullptr;
};

}  // namespace jtrace
