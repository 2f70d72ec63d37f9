#!/usr/bin/env bash
# Compiles the seeds of the class-file fuzzer for three class-file versions into its corpus.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
corpus=$here/../../corpus/classfile
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for release in 8 11 17; do
  javac -Xlint:-options -g --release "$release" -d "$work/$release" "$here/Seeds.java"
  for class in "$work/$release"/*.class; do
    size=$(stat -c %s "$class")
    ((size <= 4096)) || continue
    cp "$class" "$corpus/$(basename "$class" .class | tr '$' '-')-$release"
  done
done
