#include "agent/samples/ring_drainer.h"

#include <cstdint>
#include <system_error>
#include <utility>

#include "agent/samples/handler/sample_handler.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::samples {
namespace {

constexpr uint64_t kHourNs = 3'600'000'000'000;

}  // namespace

void RingDrainer::Start(std::function<void()> empty) {
  stopping_ = false;
  try {
    thread_.Start("jtrace samples", [this, empty = std::move(empty)] { Run(empty); });
  } catch (const std::system_error&) {
    return;
  }
}

void RingDrainer::Stop() {
  if (!thread_.IsRunning()) return;
  stopping_ = true;
  samples_doorbell.Ring();
  thread_.Join();
}

void RingDrainer::Run(const std::function<void()>& empty) {
  while (!stopping_) {
    if (samples_doorbell.Wait(kHourNs)) signal_safe::RunAsAgent(empty);
  }
}

}  // namespace jtrace::samples
