#!/usr/bin/env python3
"""What jtrace ship costs while traces arrive as from several JVMs with loop=1m.

usage: scripts/bench/ship.py [BUILD [SECONDS [TRACES]]]    default: build, 120 s, 20 traces (ten JVMs for two minutes)

Prints, for tables and for tables and two servers, the processor time and memory of the shipper and of its conversions.
The servers take everything. Needs h2.jar (scripts/setup.sh test) and the targets of the tier `fleet`.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "java-tests/fleet"))
import receiver  # noqa: E402

H2 = "/usr/share/java/h2.jar"


def traces(build, work, count):
    java = shutil.which("java") or sys.exit("ship.py: there is no java in PATH")
    subprocess.run([java, f"-agentpath:{build}/lib/libjtrace.so=mode=samples,log=none,out={work}/one.bin", "-cp",
                    f"{build}/java-tests/classes:{H2}", "H2Work", "2"], check=True, cwd=work, stdout=subprocess.DEVNULL)
    made = work / "made"
    made.mkdir()
    if count:
        subprocess.run([build / "tests/perturb_traces", work / "one.bin", made, "0", str(count), "3"], check=True)
    return sorted(made.iterdir())


def ship(build, folder, targets, arriving, seconds):
    """{metric: value} at the end."""
    folder.mkdir(parents=True)
    metrics = folder.parent / f"{folder.name}.prom"
    shipper = subprocess.Popen([build / "bin/jtrace", "ship", folder, f"--metrics-file={metrics}", *targets],
                               stdout=subprocess.DEVNULL)
    begin = time.monotonic()
    for number, trace in enumerate(arriving):
        time.sleep(max(0, begin + seconds * (number + 0.5) / len(arriving) - time.monotonic()))
        part = folder / f"{trace.name}.part"
        shutil.copy(trace, part)
        part.rename(folder / trace.name)
    time.sleep(max(0, begin + seconds - time.monotonic()))
    time.sleep(2)  # the last one settles
    shipper.terminate()
    shipper.wait()
    lines = [line.rsplit(" ", 1) for line in metrics.read_text().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 120
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    server = receiver.Receiver()
    with tempfile.TemporaryDirectory(prefix="jtrace-bench-") as folder:
        work = pathlib.Path(folder)
        made = traces(build, work, count)
        size = sum(it.stat().st_size for it in made) / max(1, len(made)) / 1000
        print(f"{len(made)} traces of {size:.0f} KB in {seconds:.0f} s")
        tables = f"--to=parquet:{work}/data"
        for name, targets, arriving in (("idle", [tables], []), ("tables", [tables], made),
                                        ("all", [tables, f"--to=otlp:{server.url}", f"--to=pprof:{server.url}"], made)):
            found = ship(build, work / name, targets, arriving, seconds)
            own, others = (found[f'jtrace_ship_cpu_seconds_total{{of="{who}"}}'] for who in ("shipper", "conversions"))
            print(f"{name:7} shipped {found['jtrace_ship_shipped_total']:.0f}; shipper {100 * own / seconds:.2f} % of a core,"
                  f" {found['jtrace_ship_resident_bytes'] / 1e6:.0f} MB; conversions {100 * others / seconds:.2f} %,"
                  f" at most {found['jtrace_ship_conversion_peak_bytes'] / 1e6:.0f} MB", flush=True)
    server.close()


if __name__ == "__main__":
    main()
