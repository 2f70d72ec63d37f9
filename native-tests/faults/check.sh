#!/usr/bin/env bash
# Every planted fault still fits the sources, so that scripts/faults.sh can try it.
set -euo pipefail
cd "$(dirname "$0")/../.."
code=0
for patch in native-tests/faults/*.patch; do
  git apply --check "$patch" || {
    echo "$patch does not fit any more: make it anew" >&2
    code=1
  }
done
exit "$code"
