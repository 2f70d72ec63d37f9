"""Figures of benchmarks in a JSON file: of each row and JDK the last one that was measured."""

import json
import os
import platform
import subprocess
import time


def version_of(java):
    """"17" of that java."""
    text = subprocess.run([java, "-XshowSettings:properties", "-version"], capture_output=True, text=True,
                          check=True).stderr
    line = next(line for line in text.splitlines() if "java.specification.version" in line)
    return line.split("=")[1].strip()


def machine():
    """The processors of this machine, for people."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return f"{os.cpu_count()} processors, {models[0] if models else platform.machine()}, Linux {platform.release()}"


class Results:
    """`machine`: where the last one was measured. `rows`: name to {"goal": text, "values": {JDK: [value, day]}}, in the order in which they were added first.
    `warmup`: name of a program to its columns."""

    def __init__(self, path):
        self.path = path
        self.machine, self.rows, self.warmup = "", {}, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
            self.machine, self.rows, self.warmup = found.get("machine", ""), found["rows"], found["warmup"]

    def add(self, name, jdk, value, goal):
        row = self.rows.setdefault(name, {"goal": goal, "values": {}})
        row["goal"] = goal
        row["values"][jdk] = [value, time.strftime("%Y-%m-%d")]

    def add_warmup(self, program, columns):
        """`columns`: way of recording to its cell; "plain" has the seconds."""
        self.warmup[program] = {**columns, "day": time.strftime("%Y-%m-%d")}

    def write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "rows": self.rows, "warmup": self.warmup}, file, indent=1, ensure_ascii=False)
            file.write("\n")
