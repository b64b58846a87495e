"""A bounded run each hour, and a savepoint of it each night."""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator

STATE = "/var/lib/streamc/card_fraud/state"
RUN = (
    "streamc run /opt/pipelines/card_fraud.py --until-caught-up "
    f"--state {STATE} --var input=/data/card_fraud --var out=/data/out"
)
SAVEPOINT = f"streamc savepoint create --state {STATE} --name nightly-{{{{ ds_nodash }}}}"
BACKUP = (
    f"streamc savepoint export nightly-{{{{ ds_nodash }}}} --state {STATE} "
    "/backup/card_fraud-{{ ds_nodash }}.savepoint"
)


with DAG(
    "card_fraud",
    schedule="@hourly",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two runs on one state are rejected (SR0401): the next one waits.
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=2)},
):
    BashOperator(task_id="run", bash_command=RUN)

with DAG(
    "card_fraud_backup",
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
):
    BashOperator(task_id="savepoint", bash_command=SAVEPOINT) >> BashOperator(
        task_id="export", bash_command=BACKUP
    )
