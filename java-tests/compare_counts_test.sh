#!/usr/bin/env bash
# scripts/compare_counts.py finds equal counts equal, and a method that jtrace was kept from counting.
# Usage: compare_counts_test.sh SOURCE BUILD JDK_HOME
set -euo pipefail
compare=("$1/scripts/compare_counts.py" "--build=$2" "--jdk=$3")
run=(cases/ -cp "$2/java-tests/classes" cases.Recursion)

expect() {
  local wanted=$1 text=$2 code=0 out
  shift 2
  out=$("$@" 2>&1) || code=$?
  if ((code != wanted)) || [[ $out != *"$text"* ]]; then
    printf '%s ends with %d, not %d and "%s":\n%s\n' "$*" "$code" "$wanted" "$text" "$out" >&2
    exit 1
  fi
}

expect 0 '0 of ' "${compare[@]}" "${run[@]}"
expect 0 '0 of ' "${compare[@]}" cases/ThrowingTasks "${run[@]:1:2}" cases.ThrowingTasks
expect 1 ' by the other agent, 0 by jtrace' "${compare[@]}" '--options=mode=events,exclude=cases.Recursion::main' "${run[@]}"
expect 2 'counted no call in no/such/' "${compare[@]}" no/such/ "${run[@]:1}"
expect 2 'is not built' "${compare[0]}" --build=/no/such "${run[@]}"
