"""Pipeline spending: what each card spends a minute, to files, memory and a python function."""

from pyspark.sql import functions as F
from streamc.runtime import Job


def build(job: Job) -> None:
    """Build the dataflow; every variable is named by its operator's id."""
    # payments: files source, json
    payments = job.read(
        "payments",
        connector="files",
        schema="""
            payment_id STRING NOT NULL,
            card_id STRING,
            amount DECIMAL(12,2),
            paid_at TIMESTAMP
        """,
        format="json",
        path=f"{job.var('root')}/payments",
        max_files_per_trigger=1,
    ).withWatermark("paid_at", "10 seconds")

    # per_minute: tumbling windows of 1 minute by card_id
    per_minute = (
        payments.groupBy(F.window("paid_at", "1 minute"), "card_id")
        .agg(
            F.sum("amount").alias("total"),
            F.count(F.lit(1)).alias("payments"),
        )
        .select(
            "card_id",
            F.col("window.start").alias("window_start"),
            "total",
            "payments",
        )
    )

    # spend: files sink, parquet
    job.sink(
        "spend",
        per_minute,
        connector="files",
        output_mode="append",
        format="parquet",
        path=f"{job.var('root')}/spend",
    )

    # seen: memory sink
    job.sink(
        "seen",
        per_minute,
        connector="memory",
        output_mode="append",
    )

    # all_payments: files sink, json
    job.sink(
        "all_payments",
        payments,
        connector="files",
        output_mode="append",
        format="json",
        path=f"{job.var('root')}/all_payments",
    )


if __name__ == "__main__":
    Job.main(__file__, build)
