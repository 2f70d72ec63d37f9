#!/usr/bin/env bash
# Each line and branch of a program has the count that an agent of another kind finds, flat and with trees; and
# scripts/compare_lines.py finds what jtrace was kept from counting.
# Usage: compare_lines_test.sh SOURCE BUILD JDK_HOME
set -euo pipefail
compare=("$1/scripts/compare_lines.py" "--build=$2" "--jdk=$3" --all)
run=(LineCases -cp "$2/java-tests/classes" LineCases)

expect() {
  local wanted=$1 text=$2 code=0 out
  shift 2
  out=$("$@" 2>&1) || code=$?
  if ((code != wanted)) || [[ $out != *"$text"* ]]; then
    printf '%s ends with %d, not %d and "%s":\n%s\n' "$*" "$code" "$wanted" "$text" "$out" >&2
    exit 1
  fi
}

expect 0 '0 of 1' "${compare[@]}" "${run[@]}"
expect 0 ' 0 methods not counted' "${compare[@]}" --options=mode=merged "${run[@]}"
expect 1 ' 1 methods not counted' "${compare[@]}" '--options=mode=events,exclude=LineCases::loops' "${run[@]}"
