#!/usr/bin/env bash
# Formats all C++ sources; with --check, only lists those that are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
[[ "${1:-}" == --check ]] && mode=(--dry-run --Werror)
git ls-files '*.h' '*.cc' | xargs clang-format-14 "${mode[@]}"
