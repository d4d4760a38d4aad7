"""Prints a log as JSON in the corpus format: for score.py, without the command line's other parts."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bot.logs.job import read_job
from bot.logs.schema import as_schema


def main() -> None:
    with Path(sys.argv[-1]).open("rb") as file:
        job = read_job(iter(lambda: file.read(1 << 16), b""))
    json.dump(as_schema(job), sys.stdout)


main()
