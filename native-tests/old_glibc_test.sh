#!/usr/bin/env bash
# The check that every build makes of its products: what the C library 2.31 lacks is refused, be it used directly or by
# libstdc++, unless each product brings it. Usage: old_glibc_test.sh OBJECT_OF_OLD_GLIBC
set -euo pipefail
object=$1
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check WORDS_OF_THE_MESSAGE, or nothing: of the library that standard input is the source of.
check() {
  g++ -std=c++20 -shared -fPIC -o "$work/library.so" -x c++ -
  local code=0
  scripts/check_old_glibc.py --old-glibc "$object" "$work/library.so" 2>"$work/message" || code=$?
  cat "$work/message"
  if [[ -n ${1-} ]]; then
    ((code == 1)) && grep -qF "library.so uses $1: " "$work/message" && [[ $(wc -l <"$work/message") == 1 ]]
  else
    ((code == 0)) && [[ ! -s $work/message ]]
  fi
}

check 'arc4random through libstdc++.a' <<'END'
#include <random>
unsigned Seed() { return std::random_device()(); }
END
check arc4random <<'END'
#include <stdlib.h>
unsigned Seed() { return arc4random(); }
END
# 2.31 has these under other versions or in a part that is linked; a weak reference may stay empty.
check <<'END'
#include <pthread.h>
#include <sys/stat.h>
#include <iostream>
#include <memory>
#include <mutex>
extern "C" const char* sigabbrev_np(int) noexcept __attribute__((weak));
int Used(pthread_t* thread, struct stat* found) {
  static std::once_flag once;
  std::call_once(once, [] { std::cout << std::make_shared<int>(1).use_count(); });
  if (sigabbrev_np != nullptr) return sigabbrev_np(1)[0];
  return stat("/", found) + pthread_create(thread, nullptr, [](void* p) { return p; }, nullptr);
}
END
