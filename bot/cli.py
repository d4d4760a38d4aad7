"""One thin command per verb: the only place that reads the environment, exits, or catches what nobody foresaw.

What a verb needs is loaded when it is asked for: reading a log must not wait for Docker, GitHub and a model.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

from bot import __version__
from bot.config import OUT, SETTINGS
from bot.domain.attempt import EXIT, Fault, InputError, OutcomeKind
from bot.redact import Redactor, secrets_in
from bot.report.neutralise import log_safe

LOG = "a job's log, a folder of logs, or the zip of a run's logs"


def parser() -> argparse.ArgumentParser:
    """The command line, as `--help` shows it."""
    root = argparse.ArgumentParser(prog="selfrepair", description="Repairs red CI runs, and shows how.")
    root.add_argument("--version", action="version", version=f"selfrepair {__version__}")
    verbs = root.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    verbs.add_parser("action", help="the action's entry point: inputs and event come from the environment")
    local = verbs.add_parser("local", help="repair a local repository's head commit")
    local.add_argument("--repo", required=True, type=Path, help="the repository")
    local.add_argument(
        "--log",
        type=Path,
        help="the failing job's log, or all of the run's: says which checks to run when no --check does",
    )
    _settings(local)
    parse = verbs.add_parser("parse", help="what a job's log says")
    parse.add_argument("log", type=Path, help=LOG)
    shape = "everything, as JSON: one object; of a folder or zip one for each job, in `jobs`"
    parse.add_argument("--json", action="store_true", help=shape)
    looking = {
        "packet": "the packet that a model would get",
        "recipe": "what CI did: image, set-up and checks, and where each is written",
    }
    for verb, text in looking.items():
        sub = verbs.add_parser(verb, help=text)
        sub.add_argument("log", type=Path, help=LOG)
        sub.add_argument("--repo", required=True, type=Path, help="the checkout that the log is about")
        if verb == "recipe":
            sub.add_argument("--workflow", default="", help="the name of the workflow that the log is of")
            sub.add_argument("--json", action="store_true", help="everything, as JSON")
    install = verbs.add_parser("install-gvisor", help="register gVisor with this machine's Docker")
    install.add_argument("--remove", action="store_true", help="take it out again")
    bench = verbs.add_parser("bench", help="measure what the parts cost")
    bench.add_argument("what", choices=["sandbox"], help="sandbox: an execution, cold and warm")
    bench.add_argument("options", nargs=argparse.REMAINDER, help="options of that bench")
    demo = verbs.add_parser("demo", help="the whole story on a bundled broken repository, no key needed")
    demo.add_argument("--record", type=Path, help="ask a real model and write its replies to this file")
    _settings(demo)
    return root


def _settings(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--out", type=Path, default=Path(OUT), help="folder for the trail and the reports")
    sub.add_argument("--check", action="append", dest="checks", metavar="CMD", help="a command that must be green")
    sub.add_argument("--setup", action="append", metavar="CMD", help="a command that installs what the checks need")
    for row in SETTINGS:
        if row.name not in ("checks", "setup"):
            default = f" (default: {row.default})" if row.default else ""
            sub.add_argument(f"--{row.name}", metavar="X", help=f"{row.help}{default}")


def main(argv: list[str] | None = None) -> int:
    """Run one verb and return its exit status: 0 done, 1 not repaired, 2 usage or configuration, 3 fault."""
    args = parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _interrupted)
    redacted = Redactor(secrets_in(os.environ)).text

    def clean(text: str) -> str:
        """Attack: a path or a traceback with a line that the runner takes for a workflow command."""
        return log_safe(redacted(text))

    try:
        return VERBS[args.verb](args, os.environ)
    except InputError as error:
        sys.stderr.write(clean("".join(f"selfrepair: {problem}\n" for problem in error.problems)))
        return 2
    except Fault as fault:
        sys.stderr.write(clean(f"selfrepair: {fault}\n  fix: {fault.fix}\n"))
        return EXIT[OutcomeKind.FAULTED]
    except KeyboardInterrupt:
        sys.stderr.write("selfrepair: interrupted\n")
        return 130
    except Exception:  # noqa: BLE001 - the one broad one: a secret in a traceback must not reach the log
        sys.stderr.write(clean(traceback.format_exc()))
        sys.stderr.write("selfrepair: this is a fault of selfrepair itself; please report it with the lines above\n")
        return EXIT[OutcomeKind.FAULTED]


def _interrupted(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _action(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.verbs import action

    return action.run(args, environ)


def _local(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.verbs import local

    return local.local(args, environ)


def _demo(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.verbs import local

    return local.demo(args, environ)


def _parse(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.verbs import looking

    return looking.parse(args, environ)


def _packet(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.verbs import looking

    return looking.packet(args, environ)


def _recipe(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.verbs import looking

    return looking.recipe(args, environ)


def _install_gvisor(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.adapters import gvisor_host
    from bot.adapters.docker_client import connect, product_image

    client = connect()
    done = gvisor_host.install(client, product_image(client, environ.get("SELFREPAIR_IMAGE", "")), remove=args.remove)
    sys.stdout.write(f"{done}\n")
    return 0


def _bench(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.bench import sandbox

    return sandbox.main(args.options, environ.get("SELFREPAIR_IMAGE", ""))


VERBS: Mapping[str, Callable[[argparse.Namespace, Mapping[str, str]], int]] = {
    "action": _action,
    "local": _local,
    "parse": _parse,
    "packet": _packet,
    "recipe": _recipe,
    "install-gvisor": _install_gvisor,
    "demo": _demo,
    "bench": _bench,
}
