#!/usr/bin/env bash
# Prints the README's table of jtrace's costs: ratios of paired runs on this machine.
# Usage: scripts/bench.sh [--quick] [--jdk HOME] [NAME…]     names: fib h2 clojure samples startup size events logs blocks
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release jtrace_agent jtrace-post jtrace jtrace_java_tests jtrace_benches
exec python3 scripts/bench/paired.py "$@"
