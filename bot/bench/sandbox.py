"""What an execution in a box costs: cold as one `docker run`, warm out of the pool, in one run under one runtime."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bot.adapters.docker_client import connect, output_of, product_image
from bot.adapters.docker_sandbox import DockerSandbox
from bot.domain.execution import Environment, Limits, Request

TARGET = 0.35
"""A warm execution of a trivial command costs at most this share of a cold one."""


def main(argv: Sequence[str] = (), image: str = "") -> int:
    """Measure and print a table; exit status 0 when the target is met, else 1. `image`: the product's, if not found.

    Cold is a container made, started, run and removed under the same runtime, as `docker run --rm` does it.
    """
    parser = argparse.ArgumentParser(prog="selfrepair bench sandbox", description=main.__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured (the median counts)")
    parser.add_argument("--pool", type=int, default=2, help="warm boxes kept waiting")
    args = parser.parse_args(list(argv))
    client, limits = connect(), Limits()
    image = product_image(client, image)
    with DockerSandbox(client=client, proxy_image=image, pool_size=args.pool, warm=limits) as sandbox:
        tree = str(Path(__file__).parent)
        environment = sandbox.prepare(Environment(image=image, tree=tree, digest="bench"))
        trivial = Request(environment=environment, entrypoint=("true",), limits=limits)
        edited = Request(
            environment=environment,
            entrypoint=("sh", "-c", "echo >/run/selfrepair/out/report"),
            files={"sandbox.py": b"pass\n"},
            tools={"plugin.py": b"pass\n"},
            collect=("report",),
            limits=limits,
        )

        def full() -> None:
            while sandbox.ready(environment, limits) < args.pool:
                time.sleep(0.05)

        cold = _median(
            args.rounds, lambda: output_of(client, environment, ["true"], runtime=limits.runtime, network_mode="none")
        )
        warm = _median(args.rounds, lambda: sandbox.run(trivial), before=full)
        whole = _median(args.rounds, lambda: sandbox.run(edited), before=full)
        steady = _median(1, lambda: [sandbox.run(trivial) for _ in range(args.rounds)], before=full) / args.rounds
    client.close()
    _print(cold=cold, warm=warm, whole=whole, steady=steady)
    return 0 if warm / cold <= TARGET else 1


def _median(rounds: int, work: Callable[[], object], before: Callable[[], None] = lambda: None) -> float:
    seconds = []
    for _ in range(rounds):
        before()
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def _print(*, cold: float, warm: float, whole: float, steady: float) -> None:
    rows = (
        ("cold docker run", cold),
        ("warm, trivial command", warm),
        ("warm, with a file, a tool and a report", whole),
        ("back to back, each in a fresh box", steady),
    )
    for name, seconds in rows:
        sys.stdout.write(f"{name:<40}{seconds:7.3f} s  {1 / seconds:6.1f} /s  {seconds / cold:5.2f} of cold\n")
    verdict = "met" if warm / cold <= TARGET else "MISSED"
    sys.stdout.write(f"target: a warm trivial command at most {TARGET} of cold: {verdict}\n")
