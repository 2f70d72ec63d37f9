#include "agent/session/session_control.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "agent/metrics/metrics_report.h"
#include "agent/options/options.h"
#include "agent/recording/counted_threads.h"
#include "agent/session/jvm_session.h"
#include "agent/session/scoped_java_thread.h"
#include "common/visible_text.h"
#include "proto/control_protocol.h"

namespace jtrace {
namespace {

using control::Commands;
using control::Server;

constexpr absl::string_view kVerbs[] = {"start",  "stop", "resume",  "dump", "flush",
                                        "status", "mark", "metrics", "hook"};

constexpr absl::Duration kStopPatience = absl::Milliseconds(2500);
constexpr absl::Duration kLoopRetry = absl::Seconds(10);

absl::Status ReplyWith(const absl::StatusOr<std::string>& answer, Commands::Reply reply) {
  if (answer.ok()) reply(control::kAnswerLine, *answer);
  return answer.status();
}

// Whether the request is a start or a stop, which must wait while another one is at work.
bool ChangesRecording(absl::string_view line) {
  const absl::string_view verb = line.substr(0, line.find(' '));
  return verb == "start" || verb == "stop" || verb == "resume";
}

}  // namespace

void SessionControl::StartServer(bool listen) {
  server_ = listen ? &Server::Start(*this, control::SocketFolder(geteuid()),
                                    control::SocketPath(geteuid(), getpid()))
                   : &Server::StartWithoutSocket(*this);
}

void SessionControl::ThreadStarted(pid_t tid) {
  session_.agent().control_thread.store(tid, std::memory_order_relaxed);
}

absl::Status SessionControl::Run(absl::string_view verb, absl::string_view argument, Reply reply) {
  std::optional<ScopedJavaThread> scope;
  if (session_.NeedsJavaThread()) scope.emplace(vm_);
  if (verb == "start") return Start(argument, reply);
  if (verb == "stop") return Stop(reply);
  if (verb == "resume") return Resume(reply);
  if (verb == "dump") return ReplyWith(session_.Dump(), reply);
  if (verb == "flush") return ReplyWith(session_.Flush(), reply);
  if (verb == "status") return ReplyWith(session_.DescribeStatus(), reply);
  if (verb == "mark") return session_.Mark(argument);
  if (verb == "hook") return Hook(argument, reply);
  if (verb == "metrics") return Metrics(argument, reply);
  constexpr size_t kLongestQuoted = 40;
  const std::string quoted = VisibleText({verb.data(), std::min(verb.size(), kLongestQuoted)});
  return absl::InvalidArgumentError(absl::StrCat("this agent does not know '", quoted,
                                                 "'; it knows ", absl::StrJoin(kVerbs, " ")));
}

CommandContext SessionControl::ContextFor(Reply reply) {
  return {.report = [reply](absl::string_view line) { reply(control::kNoteLine, line); },
          .progress =
              [reply](const BatchProgress& progress, absl::string_view text) {
                reply(control::kProgressLine,
                      absl::StrCat(progress.done.classes, "/", progress.all.classes, " ", text));
              },
          .pause = [this](absl::Duration time,
                          CommandContext::ServedRequests served) { return Pause(time, served); }};
}

// A stop on a thread of the program does not wait, whatever probebudget= says.
bool SessionControl::Pause(absl::Duration time, CommandContext::ServedRequests served) {
  const pid_t control = session_.agent().control_thread.load(std::memory_order_relaxed);
  if (gettid() != control) {
    if (served == CommandContext::kQueries) return false;
    absl::SleepFor(time);
    return true;
  }
  return control_thread_server_->Pause(time, [served](absl::string_view line) {
    return served == CommandContext::kAnyRequest || !ChangesRecording(line);
  });
}

absl::Status SessionControl::Start(absl::string_view options, Reply reply) {
  const absl::StatusOr<Options> parsed = ParseOptions(options);
  if (!parsed.ok()) return parsed.status();
  if (parsed->action != Action::kStart || parsed->help || parsed->version) {
    return absl::InvalidArgumentError("start takes options of a recording only");
  }
  const ScopedJavaThread scope(vm_);
  const auto jni = scope.jni();
  if (!jni.ok()) return jni.status();
  return ReplyWith(session_.Start(*jni, *parsed, ContextFor(reply)), reply);
}

absl::Status SessionControl::Resume(Reply reply) {
  const ScopedJavaThread scope(vm_);
  const auto jni = scope.jni();
  if (!jni.ok()) return jni.status();
  return ReplyWith(session_.Resume(*jni, ContextFor(reply)), reply);
}

absl::Status SessionControl::Hook(absl::string_view specs, Reply reply) {
  const ScopedJavaThread scope(vm_);
  const auto jni = scope.jni();
  if (!jni.ok()) return jni.status();
  return ReplyWith(session_.Hook(specs), reply);
}

absl::Status SessionControl::Stop(Reply reply) {
  const ScopedJavaThread scope(vm_);
  const auto jni = scope.jni();
  if (!jni.ok()) return jni.status();
  CommandContext context = ContextFor(reply);
  context.timeout = kStopPatience;
  return ReplyWith(session_.Stop(*jni, context), reply);
}

absl::Status SessionControl::Metrics(absl::string_view options, Reply reply) {
  const absl::StatusOr<metrics::MetricsFormat> format = metrics::ParseMetricsFormat(options);
  if (!format.ok()) return format.status();
  const ScopedJavaThread scope(vm_);
  const auto jni = scope.jni();
  if (!jni.ok()) return jni.status();
  const std::string text = metrics::Format(CollectMetrics(session_.agent(), *jni), *format);
  return ReplyWith(std::string(absl::StripSuffix(text, "\n")), reply);
}

absl::Time SessionControl::RunDueWork() {
  const absl::Time due =
      std::min(CarryOut(), session_.agent().probes.compilers.EndIfIdle(absl::Now()));
  return std::min(due, session_.ForgetUnloaded(absl::Now()));
}

absl::Time SessionControl::CarryOut() {
  const Due due = session_.WhatIsDue(absl::Now());
  if (due.what == Due::kNextFile) {
    std::optional<ScopedJavaThread> scope;
    if (session_.NeedsJavaThread()) scope.emplace(vm_);
    // The trace reports a failure (Recording::NextFile).
    if (session_.NextFile().ok()) return absl::Now();
    return std::min(due.next, absl::Now() + kLoopRetry);
  }
  if (due.what != Due::kNothing) {
    const ScopedJavaThread scope(vm_);
    if (const auto jni = scope.jni(); jni.ok()) {
      session_.CarryOut(*jni, due.what, ContextFor([](char, absl::string_view) {}));
    }
  }
  return due.next;
}

}  // namespace jtrace
