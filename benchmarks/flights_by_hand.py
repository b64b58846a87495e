"""The flights job as written by hand: plain PySpark, one query per sink.

    python benchmarks/flights_by_hand.py --flights DIR --weather DIR --out DIR --state DIR

It does what `specs/flights/flights.stream` does, with the settings that streamc uses too: named
sources, RocksDB with changelog checkpointing, two shuffle partitions. It runs until all input is
read. `handwritten.py` measures the emitted job against it.
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

SETTINGS = {
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    "spark.sql.streaming.offsetLog.formatVersion": "2",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
FLIGHTS = """
    scheduled_at TIMESTAMP, carrier STRING, flight INT, tail_number STRING, origin STRING,
    dest STRING, departure_delay INT, air_time INT, distance INT
"""
WEATHER = """
    observed_at TIMESTAMP, origin STRING, temperature DOUBLE, wind_speed DOUBLE,
    precipitation DOUBLE, visibility DOUBLE
"""


def main() -> None:
    """Run the four queries over the existing input, then stop."""
    parser = argparse.ArgumentParser(description="The flights job, written by hand.")
    for name in ("flights", "weather", "out", "state"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    builder = SparkSession.builder.appName("flights_by_hand")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    flights = (
        read(spark, "flights", FLIGHTS, args.flights)
        .withColumn("cancelled", F.col("departure_delay").isNull())
        .withColumn("hour", F.date_trunc("hour", "scheduled_at"))
        .withWatermark("scheduled_at", "1 hour")
    )
    weather = (
        read(spark, "weather", WEATHER, args.weather)
        .withColumn("hour", F.date_trunc("hour", "observed_at"))
        .withWatermark("observed_at", "1 hour")
    )
    results = {
        "departures": departures(flights),
        "flight_weather": flight_weather(flights, weather),
        "aircraft": aircraft(flights),
        "worst_routes": worst_routes(flights),
    }
    queries = [
        result.writeStream.queryName(name)
        .format("parquet")
        .outputMode("append")
        .option("path", f"{args.out}/{name}")
        .option("checkpointLocation", f"{args.state}/{name}")
        .trigger(availableNow=True)
        .start()
        for name, result in results.items()
    ]
    for query in queries:
        query.awaitTermination()
    spark.stop()


def read(spark: SparkSession, name: str, schema: str, path: str) -> DataFrame:
    """A named stream of JSON files, thirty files a batch; a malformed row fails the job."""
    reader = spark.readStream.name(name).schema(schema)
    return reader.options(maxFilesPerTrigger=30, mode="FAILFAST").json(path)


def departures(flights: DataFrame) -> DataFrame:
    """Flights, mean delay and share of cancelled flights by airport and hour."""
    return (
        flights.groupBy(F.window("scheduled_at", "1 hour"), "origin")
        .agg(
            F.count(F.lit(1)).alias("flights"),
            F.avg("departure_delay").alias("mean_delay"),
            (F.count(F.when(F.col("cancelled"), 1)) / F.count(F.lit(1))).alias("cancelled_share"),
        )
        .select(
            "origin",
            F.col("window.start").alias("window_start"),
            "flights",
            "mean_delay",
            "cancelled_share",
        )
    )


def flight_weather(flights: DataFrame, weather: DataFrame) -> DataFrame:
    """Each flight with the weather of its hour, or with none."""
    f, w = flights.alias("f"), weather.alias("w")
    return f.join(
        w,
        F.expr(
            "w.origin = f.origin AND w.hour = f.hour"
            " AND w.observed_at BETWEEN f.scheduled_at - INTERVAL 1 HOUR AND f.scheduled_at"
        ),
        "left",
    ).select(
        *(f"f.{name}" for name in ("scheduled_at", "carrier", "flight", "origin", "dest")),
        *(f"f.{name}" for name in ("departure_delay", "cancelled")),
        *(f"w.{name}" for name in ("observed_at", "temperature", "wind_speed")),
        *(f"w.{name}" for name in ("precipitation", "visibility")),
    )


def aircraft(flights: DataFrame) -> DataFrame:
    """The activity of each aircraft between two rests of more than six hours."""
    departed = flights.where("tail_number IS NOT NULL AND NOT cancelled")
    return (
        departed.groupBy(F.session_window("scheduled_at", "6 hours"), "tail_number")
        .agg(
            F.count(F.lit(1)).alias("flights"),
            F.size(F.collect_set("origin")).cast("bigint").alias("origins"),
            F.sum("air_time").alias("air_time"),
            F.sum("distance").alias("distance"),
        )
        .select(
            "tail_number",
            F.col("session_window.start").alias("window_start"),
            F.col("session_window.end").alias("window_end"),
            "flights",
            "origins",
            "air_time",
            "distance",
        )
    )


def worst_routes(flights: DataFrame) -> DataFrame:
    """The ten routes of each day with the greatest mean delay."""
    days = (
        flights.groupBy(F.window("scheduled_at", "1 day"), "origin", "dest")
        .agg(
            F.count(F.lit(1)).alias("flights"),
            F.avg("departure_delay").alias("mean_delay"),
            F.max("departure_delay").alias("max_delay"),
            F.count("departure_delay").alias("departed"),
        )
        .where("departed >= 3")
    )
    # A stream has no ROW_NUMBER: sort the rows of a day as structs and keep ten.
    row = F.struct(
        (-F.col("mean_delay")).alias("order"),
        "origin",
        "dest",
        "flights",
        "mean_delay",
        "max_delay",
    )
    return (
        days.groupBy(F.window(F.window_time("window"), "1 day"))
        .agg(F.slice(F.sort_array(F.collect_list(row)), 1, 10).alias("rows"))
        .select(F.col("window.start").alias("window_start"), F.inline("rows"))
        .drop("order")
    )


if __name__ == "__main__":
    main()
