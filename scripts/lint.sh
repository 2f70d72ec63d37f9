#!/usr/bin/env bash
# clang-tidy over the C++ sources. Usage: scripts/lint.sh [FILE…]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh dev
# One command a source: batches would hide them.
cmake --preset release -B build-lint -DJTRACE_UNITY=OFF >/dev/null
cmake --build build-lint --target jtrace_proto >/dev/null
files=("$@")
((${#files[@]})) || mapfile -t files < <(git ls-files 'agent/*.cc' 'postproc/*.cc')
printf '%s\0' "${files[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 -p build-lint --quiet
