"""What people read about a run: pure text, made from an Outcome."""

from bot.report.history import MARKER, history_comment
from bot.report.job import jobs
from bot.report.pull_request import pull_request_body
from bot.report.recipe import recipe
from bot.report.summary import job_summary, terminal

__all__ = ["MARKER", "history_comment", "job_summary", "jobs", "pull_request_body", "recipe", "terminal"]
