#!/usr/bin/env bash
# Measures what jtrace costs on this machine: ratios of paired runs. Keep it idle meanwhile.
# Usage: scripts/bench.sh [--quick] [--jdk HOME] [NAME…]     names: fib h2 threads clojure samples startup size events
#                                                            logs blocks resting; the results are in build/bench.json
#        scripts/bench.sh wide [--rounds N] [--huge] [--peer FILE] [--ways NAME,…] [--only NAME,…] [TRACE…]
#                         programs with millions of call paths, and reports on them
#        scripts/bench.sh readme [PEER]   everything on JDK 17, the main rows on every other JDK that is installed, and
#        short programs beside PEER, async-profiler's library: about two hours. Writes docs/bench.json and the README's
#        tables.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1-}" = wide ]; then
  shift
  scripts/build.sh release jtrace_agent jtrace-post wide_trace
  exec python3 scripts/bench/wide.py "$@"
fi
scripts/build.sh release jtrace_agent jtrace-post jtrace jtrace_java_tests jtrace_benches
if [ "${1-}" != readme ]; then exec python3 scripts/bench/paired.py "$@"; fi

# The home of an installed JDK, or nothing.
jdk_of() {
  local home
  for home in /usr/lib/jvm/*/ build/jdks/*/; do
    if grep -qs "^JAVA_VERSION=\"$1[.\"]" "${home}release"; then
      realpath "$home"
      return
    fi
  done
}

results=docs/bench.json
first=$(jdk_of 17)
python3 scripts/bench/paired.py --results $results --jdk "$first"
python3 scripts/bench/warmup.py --results $results --jdk "$first" ${2:+--peer "$2"}
for version in 25 21; do
  jdk=$(jdk_of $version)
  if [ -z "$jdk" ]; then
    echo "JDK $version: *not verified*, as it is not installed"
  else
    python3 scripts/bench/paired.py --results $results --jdk "$jdk" fib h2 startup
  fi
done
python3 scripts/bench/table.py --results $results
