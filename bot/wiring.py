"""Puts the world together around one run of the story: which adapter implements which port."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bot import action
from bot.adapters import gvisor_host, models
from bot.adapters.anthropic_proposer import AnthropicProposer
from bot.adapters.console import Console
from bot.adapters.docker_client import connect, product_image
from bot.adapters.docker_sandbox import DockerSandbox
from bot.adapters.git_workspace import GitWorkspace
from bot.adapters.jsonl_trail import JsonlTrail
from bot.adapters.replay_proposer import RecordingProposer, ReplayProposer
from bot.config import Config
from bot.domain.attempt import EditFormat
from bot.domain.ports import Forge, Proposer, Trigger
from bot.redact import Redactor, secrets_in


def run(
    trigger: Trigger,
    settings: Config,
    console: Console,
    forge: Forge,
    workspace: GitWorkspace,
    scratch: Path,
    out: Path,
    environ: Mapping[str, str],
) -> action.Told:
    """Put the world together around one run of the story."""
    redactor = Redactor(secrets_in(environ))
    trail = JsonlTrail.open(out, redactor.text)
    proposer, edit_format = proposer_for(settings, environ)
    client = connect()
    image = product_image(client, environ.get("SELFREPAIR_IMAGE", ""))
    hosted = environ.get("RUNNER_ENVIRONMENT") == "github-hosted"
    if settings.install_gvisor == "always" or (settings.install_gvisor == "auto" and hosted):
        gvisor_host.install(client, image)
    with DockerSandbox(
        client=client, proxy_image=image, warm=settings.limits, progress=console, disk_mb=settings.disk_mb
    ) as sandbox:
        ports = action.Ports(
            forge=forge,
            workspace=workspace,
            history=workspace,
            sandbox=sandbox,
            proposer=RecordingProposer(proposer, out / "replies.jsonl", clean=redactor.text),
            trail=trail,
            progress=console,
            clock=time.monotonic,
            redactor=redactor,
            scratch=scratch,
            edit_format=edit_format,
        )
        return action.run(trigger, settings, ports)


def proposer_for(settings: Config, environ: Mapping[str, str]) -> tuple[Proposer, EditFormat]:
    """The model and the edit format that suits it. Raises InputError when it cannot be asked."""
    scheme, _, name = settings.model.partition(":")
    if scheme == "replay":
        replay = ReplayProposer(Path(name))
        return replay, settings.edit_format or replay.edit_format
    key = environ.get("INPUT_ANTHROPIC-API-KEY") or environ.get("ANTHROPIC_API_KEY", "")
    form = settings.edit_format or models.for_model(name, settings.base_url)
    return AnthropicProposer(name, api_key=key, base_url=settings.base_url), form


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone when the run ends."""
    with tempfile.TemporaryDirectory(prefix="selfrepair-") as folder:
        yield Path(folder)
