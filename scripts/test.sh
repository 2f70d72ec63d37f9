#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: GoogleTest through CTest, JUnit for Java,
# and what runs without a JVM once more under ASan+UBSan and TSan.
# Usage: scripts/test.sh [--fast]    --fast: no sanitizer builds, no tests labelled slow
set -euo pipefail
cd "$(dirname "$0")/.."

fast=false
[[ "${1:-}" == --fast ]] && fast=true
jobs=$(nproc)

scripts/build.sh release
exclude=()
$fast && exclude=(-LE slow)
ctest --test-dir build --output-on-failure -j "$jobs" "${exclude[@]}" --no-tests=error

if ! $fast; then
  for preset in asan-ubsan tsan; do
    echo "== $preset"
    scripts/build.sh "$preset"
    ctest --test-dir "build-$preset" --output-on-failure -j "$jobs" --no-tests=error
  done
fi
