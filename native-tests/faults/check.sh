#!/usr/bin/env bash
# Every planted fault still fits the sources, so that scripts/faults.sh can try it; and every feature
# that works has one, which a test of the feature catches.
set -euo pipefail
cd "$(dirname "$0")/../.."
code=0
for patch in native-tests/faults/*.patch; do
  git apply --check "$patch" || {
    echo "$patch does not fit any more: make it anew" >&2
    code=1
  }
done
native-tests/faults/rows.py || code=1
exit "$code"
