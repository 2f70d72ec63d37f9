"""Runs programs, and reads what they print."""
import subprocess


class Missing(Exception):
    """A program cannot be run, or its help has an unknown form."""


def run(words):
    try:
        done = subprocess.run([str(word) for word in words], text=True, capture_output=True, check=False)
    except OSError as error:
        raise Missing(f"cannot run {words[0]}: {error.strerror}") from error
    return done


def printed(words):
    done = run(words)
    if done.returncode != 0:
        raise Missing(f"{' '.join(str(word) for word in words)} ended with {done.returncode}")
    return done.stdout + done.stderr
