"""Readers of Parquet and engines for the queries, as scripts/fleet.sh gets them. What is not there is None."""
import importlib
import os
import pathlib
import re
import subprocess
import sys

TABLES = ("runs", "routines", "paths", "nodes", "arcs", "samples", "threads", "metrics", "classes", "losses")
SQL = pathlib.Path(__file__).resolve().parents[2] / "postproc/fleet/sql"
QUERIES = {"top": [], "flat": [], "tree": [], "arcs": [], "dead": [], "hosts": [], "percentiles": [], "check": [],
           "callers": ["--of=cases.Recursion.over"], "diff": ["--before=version=17", "--after=version=25"],
           "merged_nodes": [], "merged_samples": []}


def module(build, name, folder="python"):
    place = str(build / "fleet" / folder)
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def statements(build, data, query, options):
    """What jtrace runs: the views, and the query."""
    command = "trace" if query.startswith("merged_") else query
    printed = subprocess.run([build / "bin/jtrace", "fleet", command, f"--data={data}", "--sql", *options], check=True,
                             text=True, stdout=subprocess.PIPE).stdout
    views = re.findall(r"^CREATE (?:TEMPORARY )?VIEW .*?;\n", printed, re.M)
    return [view.rstrip(";\n") for view in views], (SQL / f"{query}.sql").read_text()


class DuckDb:
    def __init__(self, build, data):
        self.build, self.data, self.duckdb = build, data, module(build, "duckdb")

    def rows(self, query, options):
        session = self.duckdb.connect()
        views, sql = statements(self.build, self.data, query, options)
        for view in views:
            session.execute(view)
        return session.execute(sql).fetchall()

    def ask(self, sql):
        """Any query over all tables that have files."""
        session = self.duckdb.connect()
        for table in TABLES:
            if any((self.data / table).rglob("*.parquet")):
                session.execute(f"CREATE VIEW {table} AS SELECT * FROM"
                                f" read_parquet('{self.data}/{table}/*/*/*/*.parquet',"
                                " hive_partitioning = true, union_by_name = true)")
        return session.execute(sql).fetchall()


class Spark:
    """Two executors in processes of their own."""

    def __init__(self, build, data, java_home):
        os.environ["JAVA_HOME"] = str(java_home)
        module(build, "pyspark", "spark")
        from pyspark.sql import SparkSession
        self.build, self.data = build, data
        self.session = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("jtrace-test")
                        .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
                        .config("spark.sql.shuffle.partitions", "4")
                        .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
                        .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
                        .getOrCreate())
        self.session.sparkContext.setLogLevel("ERROR")

    def executors(self):
        return self.session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1  # and the driver

    def rows(self, query, options):
        views, sql = statements(self.build, self.data, query, [*options, "--engine=local[2]"])
        for view in views:
            self.session.sql(view.replace("CREATE TEMPORARY", "CREATE OR REPLACE TEMPORARY"))
        return [tuple(row) for row in self.session.sql(sql).collect()]
