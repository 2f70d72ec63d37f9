"""jtrace fleet --engine=spark://…: a master and two workers of Spark, each a process of its own."""
import csv
import io
import os
import re
import subprocess
import time

import engines
from fleet_case import FleetTest, same



class SparkEngine(FleetTest):
    def setUp(self):
        super().setUp()
        self.need()
        if engines.module(self.build, "pyspark", "spark") is None:
            self.skipTest("not verified: there is no pyspark (scripts/fleet.sh spark)")
        self.jdks = self.jdks[:1]
        self.spark = self.build / "fleet/spark/pyspark"
        self.environment = {**os.environ, "JAVA_HOME": str(self.jdks[0]), "SPARK_HOME": str(self.spark),
                            "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(self.work / "spark")}

    def daemon(self, name, kind, ready, *arguments):
        """Starts a process of Spark; returns what its log says of it."""
        log = self.work / f"{name}.log"
        with open(log, "w") as out:
            process = subprocess.Popen([self.spark / "bin/spark-class", f"org.apache.spark.deploy.{kind}", "--host",
                                        "127.0.0.1", "--port", "0", "--webui-port", "0", *arguments],
                                       env=self.environment, stdout=out, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        for _ in range(1200):
            found = re.search(ready, log.read_text())
            if found:
                return found[0]
            self.assertIsNone(process.poll(), log.read_text()[-2000:])
            time.sleep(0.1)
        self.fail(log.read_text()[-2000:])

    def ask(self, *arguments):
        return subprocess.run([self.build / "bin/jtrace", "fleet", *arguments, f"--data={self.data}"], check=True,
                              text=True, stdout=subprocess.PIPE, env=self.environment, timeout=600).stdout

    def test_a_cluster_answers_as_duckdb_does(self):
        self.record()
        master = self.daemon("master", "master.Master", r"spark://127\.0\.0\.1:[0-9]+")
        for name in ("worker-1", "worker-2"):
            self.daemon(name, "worker.Worker", "Successfully registered with master", "--cores", "1", "--memory",
                        "1g", master)
        engine = (f"--engine={master}", f"--spark={self.spark}")
        found, wanted = (list(csv.reader(io.StringIO(self.ask("top", "--format=csv", *options))))
                         for options in (engine, ()))
        self.assertGreater(len(wanted), 10)
        self.assertEqual(len(found), len(wanted))
        for one, other in zip(found, wanted):
            self.assertTrue(all(a == b or same(float(a), float(b)) for a, b in zip(one, other)), f"{one} {other}")
        # Two queries in one call.
        self.assertEqual(self.ask("trace", *engine), self.ask("trace"))
        for name in ("worker-1", "worker-2"):
            self.assertIn("Launch command", (self.work / f"{name}.log").read_text())
