#include "agent/calls/instrument/jdk_probe_points.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "agent/base/class_names.h"
#include "agent/calls/instrument/probe_targets.h"

namespace jtrace::calls {
namespace {

constexpr std::string_view kParkClass = "java/util/concurrent/locks/LockSupport";
constexpr std::string_view kStreamClass = "java/io/FileInputStream";
// The second one exists from JDK 20 on.
constexpr std::string_view kDispatcherClasses[] = {"sun/nio/ch/FileDispatcherImpl",
                                                   "sun/nio/ch/UnixFileDispatcherImpl"};
// The local variables with the stream, and with the FileDescriptor that a dispatcher gets.
constexpr int kStreamLocal = 0;
constexpr int kDescriptorLocal = 1;

bool IsDispatcher(std::string_view internal_name) {
  return std::ranges::find(kDispatcherClasses, internal_name) != std::end(kDispatcherClasses);
}

absl::StatusOr<classfile::ScopeFilter> FilterOfClasses(std::vector<std::string_view> names) {
  std::vector<std::string> patterns;
  for (const std::string_view name : names) patterns.push_back(DottedName(name));
  return classfile::ScopeFilter::Create(patterns, {});
}

}  // namespace

const char kLockMethods[] =
    "java.util.concurrent.locks.ReentrantLock::lock;"
    "java.util.concurrent.locks.ReentrantLock::lockInterruptibly;"
    "java.util.concurrent.locks.ReentrantLock::tryLock;"
    "java.util.concurrent.locks.ReentrantLock::unlock;"
    "java.util.concurrent.locks.ReentrantReadWriteLock$*Lock::lock;"
    "java.util.concurrent.locks.ReentrantReadWriteLock$*Lock::lockInterruptibly;"
    "java.util.concurrent.locks.ReentrantReadWriteLock$*Lock::tryLock;"
    "java.util.concurrent.locks.ReentrantReadWriteLock$*Lock::unlock;"
    "java.util.concurrent.locks.StampedLock::readLock;"
    "java.util.concurrent.locks.StampedLock::readLockInterruptibly;"
    "java.util.concurrent.locks.StampedLock::writeLock;"
    "java.util.concurrent.locks.StampedLock::writeLockInterruptibly;"
    "java.util.concurrent.locks.StampedLock::tryReadLock;"
    "java.util.concurrent.locks.StampedLock::tryWriteLock;"
    "java.util.concurrent.locks.StampedLock::tryConvertTo*;"
    "java.util.concurrent.locks.StampedLock::unlock;"
    "java.util.concurrent.locks.StampedLock::unlockRead;"
    "java.util.concurrent.locks.StampedLock::unlockWrite;"
    "java.util.concurrent.locks.StampedLock::tryUnlockRead;"
    "java.util.concurrent.locks.StampedLock::tryUnlockWrite";

absl::StatusOr<JdkProbePoints> JdkProbePoints::Create(const Options& options) {
  auto park_filter = FilterOfClasses({kParkClass});
  if (!park_filter.ok()) return park_filter.status();
  auto input_filter = FilterOfClasses({kStreamClass, kDispatcherClasses[0], kDispatcherClasses[1]});
  if (!input_filter.ok()) return input_filter.status();
  JdkProbePoints points(*std::move(park_filter), *std::move(input_filter));
  points.parks_ = options.codes.Has(Code::kPark);
  points.finds_input_ = options.boundary_costs;
  return points;
}

bool JdkProbePoints::IsParkClass(std::string_view internal_name) const {
  return parks_ && internal_name == kParkClass;
}

bool JdkProbePoints::IsInputClass(std::string_view internal_name) const {
  return finds_input_ && (internal_name == kStreamClass || IsDispatcher(internal_name));
}

void JdkProbePoints::Limit(std::string_view internal_name, classfile::ProbeSpec& spec,
                           RoutineTargets& targets) const {
  spec.methods = spec.thrown = spec.caught = spec.monitors = false;
  if (!IsInputClass(internal_name)) {
    spec.boundary = IsParkClass(internal_name);
    return targets.LimitTo(&IsPark);
  }
  spec.boundary = true;
  spec.enter = spec.token == classfile::TokenKind::kNone ? "countInput" : "enterInput";
  spec.exit = "exitInput";
  spec.timed_calls = spec.elements = false;
  spec.passed_local = internal_name == kStreamClass ? kStreamLocal : kDescriptorLocal;
  targets.LimitTo(&IsInput);
}

void JdkProbePoints::AddParks(std::string_view internal_name, classfile::ProbeSpec& spec,
                              RoutineTargets& targets) const {
  if (spec.boundary || !IsParkClass(internal_name)) return;
  spec.boundary = true;
  targets.LimitTo(&IsPark);
}

bool IsPark(const classfile::ProbeTarget& callee) {
  if (!callee.name.starts_with("park")) return false;
  return callee.class_name == "jdk/internal/misc/Unsafe" ||
         callee.class_name == "sun/misc/Unsafe" ||
         callee.class_name == "jdk/internal/misc/VirtualThreads";
}

bool IsInput(const classfile::ProbeTarget& callee) {
  if (callee.class_name == kStreamClass) {
    return callee.name == "read0" || callee.name == "readBytes";
  }
  return IsDispatcher(callee.class_name) && (callee.name == "read0" || callee.name == "readv0");
}

}  // namespace jtrace::calls
