#!/usr/bin/env bash
# Builds a preset (default: release, into build/), or only some targets of it.
# Usage: scripts/build.sh [PRESET [TARGET…]]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
preset=${1:-release}
targets=("${@:2}")
# On a terminal ninja shows in one line how far it is; a log wants no more than this.
quiet=(-- --quiet)
[[ -t 1 ]] && quiet=()
echo "== building $preset (some minutes the first time)"
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" ${targets[@]+--target "${targets[@]}"} "${quiet[@]}"
