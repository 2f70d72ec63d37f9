"""Readers of Parquet files, each as rows by column: what is not installed is None."""
import importlib
import json
import math
import pathlib


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def with_duckdb(duckdb, file):
    relation = duckdb.sql(f"SELECT * FROM read_parquet('{file}')")
    rows = relation.fetchall()
    return {name: [row[i] for row in rows] for i, name in enumerate(relation.columns)}


def with_pyarrow(parquet, file):
    return parquet.read_table(file).to_pydict()


def differs(read, expected):
    """The first column that differs, or None. Doubles have all their digits in the JSON."""
    for name, values in expected.items():
        if len(read[name]) != len(values):
            return name
        for got, wanted in zip(read[name], values):
            same = math.isclose(got, wanted, rel_tol=0, abs_tol=0) if isinstance(wanted, float) and got is not None \
                else got == wanted
            if not same:
                return name
    return None


def check_samples(folder, read, reader):
    """Every sample of write_samples.cc; returns what is wrong."""
    wrong = []
    for file in sorted(pathlib.Path(folder).glob("*.parquet")):
        expected = json.loads(file.with_suffix(".json").read_text())
        column = differs(read(reader, str(file)), expected)
        if column:
            wrong.append(f"{file.name}: column {column}")
    return wrong
