#!/usr/bin/env bash
# clang-tidy over the C++ sources. Usage: scripts/lint.sh [--part-of=N | FILE…]
#   --part-of=N   an N-th of the sources; the same tree always gets the same one
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh dev
# One command a source: batches would hide them.
cmake --preset release -B build-lint -DJTRACE_UNITY=OFF >/dev/null
cmake --build build-lint --target jtrace_proto jtrace_export_messages fleet_spark_script >/dev/null
parts=1
[[ ${1-} != --part-of=* ]] || {
  parts=${1#*=}
  shift
}
files=("$@")
# Other digits than those by which .ci/run chooses the tier: else it would always be the same part.
tree=$(git rev-parse 'HEAD^{tree}')
((${#files[@]})) || mapfile -t files < <(git ls-files 'agent/*.cc' 'postproc/*.cc' ':!*_aarch64.cc' |
  awk -v parts="$parts" -v part=$((16#${tree:8:8} % parts)) 'NR % parts == part')
# Without the number of remarks on headers that are not ours.
printf '%s\0' "${files[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 -p build-lint --quiet \
  2> >(grep -v ' warnings generated\.$' >&2)
