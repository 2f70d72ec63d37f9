"""Runs the queries of `jtrace fleet` on Spark: fleet_spark.py FOLDER

FOLDER/request.json has "statements" that make the views, and "queries". The answer of query N is
FOLDER/N.json.
"""
import decimal
import json
import sys

from pyspark.sql import SparkSession


def plain(value):
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def main(folder):
    with open(f"{folder}/request.json", encoding="utf-8") as file:
        request = json.load(file)
    spark = SparkSession.builder.getOrCreate()
    for statement in request["statements"]:
        spark.sql(statement)
    for number, query in enumerate(request["queries"]):
        frame = spark.sql(query)
        rows = [[plain(value) for value in row] for row in frame.collect()]
        with open(f"{folder}/{number}.json", "w", encoding="utf-8") as file:
            json.dump({"columns": frame.columns, "rows": rows}, file)
    spark.stop()


main(sys.argv[1])
