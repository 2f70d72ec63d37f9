#!/usr/bin/env bash
# Builds a preset (default: release, into build/). Usage: scripts/build.sh [PRESET]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
preset=${1:-release}
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" -- --quiet
