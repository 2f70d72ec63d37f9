"""docs/JVMS.md: the results by JVM."""

HEAD = """# JVMs and systems under test

`scripts/test.sh jvms` runs the release on every JVM below, in a root of its Debian release, with other collectors,
compilers and object layouts: a cover of all pairs of them with H2, ecj and Clojure. In each run another agent counts
every call by itself; the output must equal that of a run without agents. "Whole" stacks reach the thread's begin;
"matched" ones agree with the calls that were open by the probes' count. This table is its output.

| JVM | runs | methods compared | calls compared | that differ | samples | whole | matched |
|---|---|---|---|---|---|---|---|
"""


def share(part, whole):
    # 100 % is never the result of rounding up.
    if not whole:
        return "-"
    text = f"{100 * part / whole:.2f} %"
    return text if part == whole or not text.startswith("100") else "99.99 %"


def row(results):
    done = [result for result in results if "calls" in result]

    def total(key):
        return sum(result.get(key, 0) for result in done)
    version = next((result["version"] for result in done), results[0]["jvm"])
    samples = total("samples")
    matchable = total("samples_placed") + total("unmatched")
    runs = f"{sum(not result['faults'] for result in done)} of {len(done)}"
    return (f"| {version.replace('OpenJDK 64-Bit Server VM ', '')} | {runs} | {total('methods'):,} | {total('calls'):,} "
            f"| {sum(len(result['differing']) for result in done)} | {samples:,} "
            f"| {share(total('samples_whole'), samples)} | {share(total('samples_placed'), matchable)} |")


def document(results, not_verified):
    by_jvm = {}
    for result in results:
        by_jvm.setdefault(result["jvm"], []).append(result)
    lines = [row(of_jvm) for of_jvm in by_jvm.values()]
    text = HEAD + "\n".join(lines) + "\n"
    faults = [f"- `{result['name']}`: {'; '.join(result['faults'])}" for result in results if result["faults"]]
    if faults:
        text += "\n## Runs with faults\n" + "\n".join(faults) + "\n"
    impossible = [f"- `{result['name']}`: {result['not_possible']}" for result in results if "not_possible" in result]
    if impossible:
        text += "\n## Not possible\n" + "\n".join(impossible) + "\n"
    if not_verified:
        text += "\n## Not verified\n" + "\n".join(f"- {line}" for line in not_verified) + "\n"
    return text
