#!/usr/bin/env bash
# scripts/layers.py finds an upward include, and a folder that is missing in the list.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r --parents cmake/layers.txt common proto agent postproc "$copy"
scripts/layers.py check "$copy"
scripts/layers.py picture --check

fails_with() {
  if scripts/layers.py check "$copy" 2>"$copy/said"; then
    echo "the check passed; it should have found: $1"
    exit 1
  fi
  grep -qF "$1" "$copy/said" || { cat "$copy/said"; exit 1; }
}
echo '#include "agent/session/jvm_session.h"' >>"$copy/agent/base/losses.cc"
fails_with 'agent/base/losses.cc: includes agent/session/jvm_session.h, but agent/session is listed after agent/base'
cp agent/base/losses.cc "$copy/agent/base/losses.cc"
mkdir "$copy/agent/attic"
touch "$copy/agent/attic/old.h"
fails_with 'agent/attic/old.h: its folder is missing in cmake/layers.txt'
