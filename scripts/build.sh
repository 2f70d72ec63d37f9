#!/usr/bin/env bash
# Builds a preset (default: release, into build/), or only some targets of it.
# Usage: scripts/build.sh [PRESET [TARGET…]]
#   JTRACE_BATCH in the environment: sources a compiler run, for a new build folder
#   If the targets are only jtrace_agent, jtrace-post and jtrace, no packages for tests are installed.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
targets=("${@:2}")
folder=build
[[ $preset == release ]] || folder=build-$preset

products_only=true
((${#targets[@]})) || products_only=false
for target in ${targets[@]+"${targets[@]}"}; do
  [[ $target =~ ^(jtrace_agent|jtrace-post|jtrace)$ ]] || products_only=false
done
cached=$(sed -n 's/^BUILD_TESTING:BOOL=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
testing=ON
if [[ $preset == aarch64 ]]; then
  scripts/setup.sh aarch64
  scripts/roots.sh aarch64
elif $products_only; then
  scripts/setup.sh build
  # A build folder with tests keeps them.
  [[ $cached == ON ]] || testing=OFF
elif [[ $preset == fuzz ]]; then
  scripts/setup.sh dev
else
  scripts/setup.sh test
fi
# On a terminal ninja shows its progress in one line; logs do not need it.
quiet=(-- --quiet)
[[ -t 1 ]] && quiet=()
echo "== building $preset (some minutes the first time)"
[[ -f $folder/CMakeCache.txt ]] || batch=${JTRACE_BATCH:+-DJTRACE_BATCH=$JTRACE_BATCH}
cmake --preset "$preset" -DBUILD_TESTING="$testing" ${batch:+"$batch"} >/dev/null
cmake --build --preset "$preset" ${targets[@]+--target "${targets[@]}"} "${quiet[@]}"
