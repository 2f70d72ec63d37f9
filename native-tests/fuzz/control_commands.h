// Replaces the JVM's session behind the control socket in a fuzz target: it parses what the session
// parses, and answers what the request dictates.
#pragma once

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "agent/control/server.h"
#include "agent/metrics/metrics_report.h"
#include "agent/native_hooks/hook_targets.h"
#include "agent/options/options.h"
#include "native-tests/fuzz/require.h"
#include "proto/control_protocol.h"

namespace jtrace::fuzz {

class ControlCommands : public control::Commands {
 public:
  using Lines = std::vector<std::pair<char, std::string>>;
  // One request, its answer without progress, and how it ended.
  struct Done {
    std::string request;
    Lines lines;
    int exit_code = control::kExitDone;
  };

  absl::Status Run(absl::string_view verb, absl::string_view argument, Reply reply) override {
    done.push_back({std::string(verb), {}, control::kExitFailed});
    if (argument.data() != nullptr) absl::StrAppend(&done.back().request, " ", argument);
    const auto say = [&](char kind, absl::string_view text) {
      reply(kind, text);
      if (kind == control::kProgressLine) return;
      for (const absl::string_view line : absl::StrSplit(text, '\n')) {
        done.back().lines.emplace_back(kind, line);
      }
    };
    const absl::Status status = Answer(verb, argument, say);
    done.back().exit_code = status.ok()                       ? control::kExitDone
                            : absl::IsInvalidArgument(status) ? control::kExitUsage
                                                              : control::kExitFailed;
    return status;
  }
  absl::Time RunDueWork() override { return absl::InfiniteFuture(); }
  void ThreadStarted(pid_t) override {}

  std::vector<Done> done;

 private:
  static absl::Status Answer(absl::string_view verb, absl::string_view argument, Reply say) {
    // The input must not choose which files are read.
    if (verb == "start" && argument.find("co") == argument.npos) {
      const auto options = ParseOptions(argument);
      if (options.ok()) say(control::kAnswerLine, DescribeOptions(*options));
      return options.status();
    }
    if (verb == "hook") {
      const auto specs = native_hooks::ParseHookSpecs(argument);
      if (!specs.ok()) return specs.status();
      for (const native_hooks::HookSpec& spec : *specs) {
        say(control::kAnswerLine, native_hooks::HookSpecText(spec));
      }
      return absl::OkStatus();
    }
    if (verb == "metrics") {
      const auto format = metrics::ParseMetricsFormat(argument);
      if (format.ok()) say(control::kAnswerLine, metrics::Format({.pid = 1}, *format));
      return format.status();
    }
    if (verb == "throw") throw std::bad_alloc();
    if (verb == "fail") return absl::UnavailableError(absl::StrCat("cannot ", argument));
    // A line for each word, its kind by its first character.
    for (const absl::string_view word : absl::StrSplit(argument, ' ')) {
      const bool is_progress = word.size() % 3 == 1;
      const std::string text(word.size() * 64, 't');
      say(is_progress ? control::kProgressLine : control::kAnswerLine, is_progress ? word : text);
    }
    return verb == "status" ? absl::OkStatus() : absl::InvalidArgumentError("no such verb");
  }
};

}  // namespace jtrace::fuzz
