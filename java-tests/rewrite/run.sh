#!/usr/bin/env bash
# Rewrites every class of a JDK's module image, or of jars, and verifies the result with HotSpot and
# a second verifier.
#
#   run.sh JDK_HOME JTRACE_REWRITE CLASSES_DIR STUB_DIR WORK_DIR ASM_CLASS_PATH [JAR...]
#
# JDK classes are verified in place: the VM boots from them (--patch-module) and links them all.
set -euo pipefail

jdk=$1 rewrite=$2 classes=$3 stub=$4 work=$5 asm=$6
shift 6
log=$work/rewrite.log

rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

"$jdk/bin/java" -cp "$classes" Pack extract "$work/in.pack" "$@"
leaves=()
if (($# > 0)); then leaves=(--leaves); fi # as the agent does where exceptions are out of scope
# With ids that need a constant and ids that do not.
"$rewrite" "${leaves[@]}" --skip-object --id-base=30000 "$work/in.pack" "$work/out.pack" >"$log"
grep -v '^refused .*: ' "$log"
refused=$(awk '/^refused [0-9]+ of/ { print $2 }' "$log")
methods=$(awk '/^refused [0-9]+ of/ { print $4 }' "$log")
if ((refused * 1000 > methods || methods == 0)); then
  echo "more than 0.1 % of the methods were refused" >&2
  grep '^refused .*: ' "$log" | head -20 >&2
  exit 1
fi
if grep '^rejected ' "$log" >&2; then exit 1; fi

patches=(--patch-module "java.base=$stub")
kind=jars
if (($# == 0)); then
  kind=jdk
  "$jdk/bin/java" -cp "$classes" Pack jars "$work/out.pack" "$work/modules" "$stub"
  patches=(--add-modules ALL-SYSTEM)
  for jar in "$work"/modules/*.jar; do
    patches+=(--patch-module "$(basename "$jar" .jar)=$jar")
  done
fi
"$jdk/bin/java" -Xverify:all -Xshare:off "${patches[@]}" -cp "$classes" LinkAll "$kind" \
  "$work/out.pack"
"$jdk/bin/java" -cp "$classes:$asm$(printf ':%s' "$@")" Verify "$work/out.pack" "$work/in.pack"

# Once more with probes around every call and at every exception.
"$rewrite" --sites --skip-object --id-base=30000 "$work/in.pack" "$work/sites.pack" >"$log"
grep '^calls ' "$log"
if [[ $kind == jdk ]]; then
  "$jdk/bin/java" -cp "$classes" Pack jars "$work/sites.pack" "$work/sites" "$stub"
  site_patches=("${patches[@]//$work\/modules/$work\/sites}")
else
  site_patches=("${patches[@]}")
fi
"$jdk/bin/java" -Xverify:all -Xshare:off "${site_patches[@]}" -cp "$classes" LinkAll "$kind" \
  "$work/sites.pack"
if [[ $kind == jdk ]]; then
  "$jdk/bin/java" -Xshare:off "${site_patches[@]}" -Xcomp -XX:-TieredCompilation -version
  # The rewritten JDK must also run: compiled by C2 from the start, and its own compiler.
  "$jdk/bin/java" -Xshare:off "${patches[@]}" -Xcomp -XX:-TieredCompilation -version
  cat >"$work/Hello.java" <<<'class Hello { public static void main(String[] a) { } }'
  "$jdk/bin/java" -Xshare:off "${patches[@]}" -m jdk.compiler/com.sun.tools.javac.Main \
    -d "$work" "$work/Hello.java"
  test -s "$work/Hello.class"
  echo "the rewritten JDK runs"
  # Once more with counters of blocks, and exceptions that pass through them.
  "$rewrite" --blocks --skip-object --id-base=30000 "$work/in.pack" "$work/blocks.pack" >"$log"
  grep '^blocks ' "$log"
  "$jdk/bin/java" -cp "$classes" Pack jars "$work/blocks.pack" "$work/blocks" "$stub"
  block_patches=("${patches[@]//$work\/modules/$work\/blocks}")
  "$jdk/bin/java" -Xverify:all -Xshare:off "${block_patches[@]}" -cp "$classes" LinkAll jdk \
    "$work/blocks.pack"
  "$jdk/bin/java" -Xshare:off "${block_patches[@]}" -Xcomp -XX:-TieredCompilation -version
  "$jdk/bin/java" -Xshare:off "${block_patches[@]}" -m jdk.compiler/com.sun.tools.javac.Main \
    -d "$work" "$work/Hello.java"
else
  # The other kinds of probes: frames move and nothing is appended to them, and no leaves; blocks
  # with each of them.
  for shape in --flat --skip-object "--flat --blocks" "--leaves --blocks" "--leaves --paths" "--sites --blocks" "--leaves --places" "--sites --places"; do
    # shellcheck disable=SC2086  # two words
    "$rewrite" $shape "$work/in.pack" "$work/out.pack" >/dev/null
    "$jdk/bin/java" -Xverify:all -Xshare:off "${patches[@]}" -cp "$classes" LinkAll jars \
      "$work/out.pack"
  done
fi
