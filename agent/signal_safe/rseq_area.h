// The calling thread's struct rseq (rseq(2)), which the C library registers from version 2.35 on.
#pragma once

#include <linux/rseq.h>
#include <stddef.h>

#include <cstdint>

// As in the C library's <sys/rseq.h>, which older ones lack: weak, so null in these.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the C library's names.
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
// NOLINTEND(bugprone-reserved-identifier)
}

namespace jtrace::signal_safe {

// RSEQ_SIG: the word that must precede the address to which the kernel sends an aborted thread.
#ifdef __aarch64__
inline constexpr uint32_t kRseqSignature = 0xd428bc00;
#else
inline constexpr uint32_t kRseqSignature = 0x53053053;
#endif

// Returns null if none is registered. Async-signal-safe.
inline struct rseq* RseqArea() {
  if (&__rseq_size == nullptr || __rseq_size == 0) return nullptr;
  return reinterpret_cast<struct rseq*>(static_cast<char*>(__builtin_thread_pointer()) +
                                        __rseq_offset);
}

}  // namespace jtrace::signal_safe
