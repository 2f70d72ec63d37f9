#!/usr/bin/env bash
# clang-tidy over the C++ sources. Usage: scripts/lint.sh [FILE…]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --dev
cmake --preset release >/dev/null
cmake --build build --target jtrace_proto >/dev/null
files=("$@")
((${#files[@]})) || mapfile -t files < <(git ls-files 'agent/*.cc' 'postproc/*.cc')
printf '%s\0' "${files[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 -p build --quiet
