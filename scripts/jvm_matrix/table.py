"""docs/JVMS.md: the results by JVM."""
from jvm_matrix import runs

HEAD = """# JVMs and systems under test

The output of `scripts/jvms.py --table`, which `scripts/test.sh jvms` runs: the release on every JVM below, with several
collectors, compilers and object layouts, a cover of all pairs of them with H2, ecj and Clojure. JVMs of Debian's
releases run in a root of that release, the others on the system that builds. In each run another agent counts every
call by itself; the exit code and the standard output must be those of a run without agents. "Whole" stacks reach the
thread's begin; "matched" ones agree with the calls that were open by the probes' count. Not compared are counts that
depend on timing: those of {jitter}.
In each run a second program calls methods of the JDK, with probes in all of `java.util.**`: the JVM verifies its own
classes there, and the counts must be exact.

| JVM | system | runs | methods compared | calls compared | that differ | samples | whole | matched | remarks |
|---|---|---|---|---|---|---|---|---|---|
"""


def share(part, whole):
    # 100 % is never the result of rounding up.
    if not whole:
        return "-"
    text = f"{100 * part / whole:.2f} %"
    return text if part == whole or not text.startswith("100") else "99.99 %"


def remarks(results):
    """What JVMs of this kind lose, in the words of the summary's losses."""
    losses = {loss for result in results for loss in result.get("losses", [])}
    words = {"loss.samples.no_inlined_methods": "samples lack inlined methods"}
    return "; ".join(text for loss, text in words.items() if loss in losses)


def row(results):
    tried = [result for result in results if "not_possible" not in result]
    done = [result for result in tried if "calls" in result]

    def total(key):
        return sum(result[key] for result in done)
    version = next((result["version"] for result in done), results[0]["jvm"])
    samples = total("samples")
    matchable = total("samples_placed") + total("unmatched")
    good = f"{sum(not result['faults'] for result in tried)} of {len(tried)}"
    return (f"| {version.replace('OpenJDK 64-Bit Server VM ', '')} | {results[0]['root'] or 'that of the build'} | {good} "
            f"| {total('methods'):,} | {total('calls'):,} | {total('differing'):,} | {samples:,} "
            f"| {share(total('samples_whole'), samples)} | {share(total('samples_placed'), matchable)} "
            f"| {remarks(done)} |")


def document(results, not_verified):
    by_jvm = {}
    for result in results:
        by_jvm.setdefault(result["jvm"], []).append(result)
    lines = [row(of_jvm) for of_jvm in by_jvm.values()]
    jitter = ", ".join(f"`{name.rstrip('.(')}`" for name in runs.JITTER)
    text = HEAD.format(jitter=jitter) + "\n".join(lines) + "\n"
    faults = [f"- `{result['name']}`: {'; '.join(result['faults'])}" for result in results if result["faults"]]
    if faults:
        text += "\n## Runs with faults\n" + "\n".join(faults) + "\n"
    impossible = [f"- `{result['name']}`: {result['not_possible']}" for result in results if "not_possible" in result]
    if impossible:
        text += "\n## Not possible\n" + "\n".join(impossible) + "\n"
    if not_verified:
        text += "\n## Not verified\n" + "\n".join(f"- {line}" for line in not_verified) + "\n"
    return text
