"""Checks that install while they run: what must be fetched beforehand, and how they are told to use what is there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.domain.findings import Check

PLUGIN = "PYTHONPATH,SELFREPAIR_*,PYTEST_*,CI"
"""Variables that must get through a tool's isolation, so that our pytest plugin is seen there."""


@dataclass(frozen=True, kw_only=True)
class Installer:
    """One row: how to know the tool, its networked rehearsal, its offline form, and variables for both.

    `verbs` is a pattern of subcommands that mean the same as none. `fetch` and `use` replace the tool's name in the
    command; without `fetch` the rehearsal is the check itself, whose verdict does not count.
    """

    word: str
    verbs: str = ""
    fetch: str | None = None
    use: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    offline: Mapping[str, str] = field(default_factory=dict)


_PIP = {"PIP_NO_INDEX": "1"}
_UV = {"UV_OFFLINE": "1"}
_NPM = {"npm_config_offline": "true"}

INSTALLERS = (
    # Editable, so that the patched tree is what is tested: tox's skip options alone would test the old copy.
    Installer(
        word="tox",
        verbs="(?: run| r)?",
        fetch="tox run --notest",
        use="tox run --skip-pkg-install",
        env={"TOX_OVERRIDE": f"testenv.package=editable;testenv.pass_env+={PLUGIN}"},
        offline=_PIP | _UV,
    ),
    Installer(
        word="nox", fetch="nox --install-only", use="nox --no-install --reuse-existing-virtualenvs", offline=_PIP
    ),
    Installer(word="pre-commit", fetch="pre-commit install-hooks", use=None, offline=_PIP | _NPM),
    Installer(word="prek", offline=_PIP | _NPM | _UV),
    Installer(word="uv run", offline=_UV),
    Installer(word="uvx", offline=_UV),
    Installer(word="uv tool run", offline=_UV),
    Installer(word="pipx run", offline=_PIP),
    Installer(word="hatch", offline=_PIP | _UV),
    Installer(word="npx", offline=_NPM),
    Installer(word="cargo", fetch="cargo fetch", offline={"CARGO_NET_OFFLINE": "true"}),
    Installer(word="go", fetch="go mod download", offline={"GOFLAGS": "-mod=mod", "GOPROXY": "off"}),
)
"""Sources: tox 4 `--skip-pkg-install`, `TOX_OVERRIDE`; nox `--install-only`, `-R`; uv `UV_OFFLINE`; npm `offline`."""


def prepared(check: Check) -> tuple[Check, str | None]:
    """(the check as it runs offline, the command to run while there is a network or None)."""
    for row in INSTALLERS:
        word = re.compile(rf"(?<![\w./-]){re.escape(row.word)}{row.verbs}(?![\w./:=-])")
        if word.search(check.command):
            return _rehearsed(check, row, word)
    return check, None


def _rehearsed(check: Check, row: Installer, word: re.Pattern[str]) -> tuple[Check, str | None]:
    plain = row.word in ("cargo", "go", "pre-commit")  # their fetching takes no argument of the check's
    if row.fetch is None:
        fetch = f"{check.command} || true"
    else:
        fetch = row.fetch if plain else word.sub(row.fetch, check.command, count=1)
    exports = "".join(f"export {name}='{value}'\n" for name, value in row.env.items())
    command = word.sub(row.use, check.command, count=1) if row.use else check.command
    offline = replace(check, command=command, env={**check.env, **row.env, **row.offline})
    return offline, exports + fetch
