// Atomic reads and writes of plain fields, in memory that Java code and C++ use at the same time.
// Async-signal-safe, any thread.
#pragma once

#include <atomic>

namespace jtrace::signal_safe {

template <typename T>
T ReadRelaxed(const T& field) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_relaxed);
}
template <typename T>
T ReadAcquire(const T& field) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_acquire);
}
template <typename T>
void WriteRelaxed(T& field, T value) {
  std::atomic_ref<T>(field).store(value, std::memory_order_relaxed);
}
template <typename T>
void WriteRelease(T& field, T value) {
  std::atomic_ref<T>(field).store(value, std::memory_order_release);
}

}  // namespace jtrace::signal_safe
