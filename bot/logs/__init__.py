"""One job log in, Reports out: exactly which tests failed and why, which complaints were raised, and in which step."""

from bot.logs.check import read_output
from bot.logs.command import command_kind
from bot.logs.job import read_job
from bot.logs.schema import as_schema, failing_step
from bot.logs.table import PARSERS

__all__ = ["PARSERS", "as_schema", "command_kind", "failing_step", "read_job", "read_output"]
