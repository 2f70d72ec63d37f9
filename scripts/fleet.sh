#!/usr/bin/env bash
# Gets what `jtrace fleet`, `jtrace ship` and their tests need from npm, PyPI and Go's proxy; without network they are
# not verified.
# Usage: scripts/fleet.sh [duckdb|test|spark|collector]…    default: duckdb
#   duckdb   libduckdb.so, for jtrace, into build/lib/jtrace (JTRACE_DUCKDB_FOLDER: another folder, such as
#            lib/jtrace of an installed copy)
#   test     and DuckDB and PyArrow for Python, into build/fleet/python
#   spark    PySpark, into build/fleet/spark (450 MB)
#   collector  an OpenTelemetry collector that takes profiles and prints them, into build/fleet/collector; needs Go
set -euo pipefail
cd "$(dirname "$0")/.."

# The versions that the tests have seen.
readonly bindings=1.5.6-r.1 duckdb=2.0.1 pyarrow=26.0.1 spark=4.3.0 collector=0.165.0

get_duckdb() {
  local folder=${JTRACE_DUCKDB_FOLDER:-build/lib/jtrace} work processor
  [[ -f $folder/libduckdb.so ]] && return
  case $(uname -m) in
    x86_64) processor=x64 ;;
    aarch64) processor=arm64 ;;
    *)
      echo "fleet: npm has no DuckDB for $(uname -m)" >&2
      return 1
      ;;
  esac
  command -v npm >/dev/null || {
    echo "fleet: npm is missing; install it, or copy a libduckdb.so to $folder" >&2
    return 1
  }
  echo "== getting DuckDB $bindings"
  work=$(mktemp -d)
  (cd "$work" && npm pack --silent "@duckdb/node-bindings-linux-$processor@$bindings" >/dev/null)
  tar xzf "$work"/*.tgz -C "$work" package/libduckdb.so package/LICENSE
  mkdir -p "$folder"
  mv "$work/package/libduckdb.so" "$folder/"
  mv "$work/package/LICENSE" "$folder/LICENSE.duckdb"
  rm -r "$work"
}

# $1: the folder; the others are packages.
get_python() {
  local folder=$1
  shift
  [[ -f $folder/complete ]] && return
  echo "== getting $*"
  python3 -m pip install --quiet --root-user-action=ignore --target "$folder" "$@"
  touch "$folder/complete"
}

get_collector() {
  local folder=$PWD/build/fleet/collector work
  [[ -f $folder/otelcol-profiles ]] && return
  command -v go >/dev/null || {
    echo "fleet: Go is missing, which builds the collector" >&2
    return 1
  }
  echo "== building OpenTelemetry's collector $collector"
  work=$(mktemp -d)
  cat >"$work/builder.yaml" <<EOF
dist: {name: otelcol-profiles, output_path: $work/made}
receivers: [{gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v$collector}]
exporters: [{gomod: go.opentelemetry.io/collector/exporter/debugexporter v$collector}]
EOF
  GOBIN=$work go install "go.opentelemetry.io/collector/cmd/builder@v$collector"
  (cd "$work" && ./builder --config=builder.yaml)
  mkdir -p "$folder"
  mv "$work/made/otelcol-profiles" "$folder/"
  rm -r "$work"
}

wanted=("$@")
((${#wanted[@]})) || wanted=(duckdb)
for part in "${wanted[@]}"; do
  case $part in
    duckdb) get_duckdb ;;
    test)
      get_duckdb
      get_python build/fleet/python "duckdb==$duckdb" "pyarrow==$pyarrow"
      ;;
    spark) get_python build/fleet/spark "pyspark==$spark" ;;
    collector) get_collector ;;
    *)
      echo "fleet: unknown part '$part'; parts: duckdb test spark collector" >&2
      exit 2
      ;;
  esac
done
