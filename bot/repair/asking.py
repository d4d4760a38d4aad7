"""Asks the model until its answer is a patch worth trying: one that applies, keeps the rules and is new."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bot.domain.attempt import EditFormat, Prompt, Reply, Spend, Strategy
from bot.domain.packet import RepairPacket
from bot.domain.patch import Files, Hole, Patch, Proposal, Rejected, apply
from bot.repair import excerpts, oracle, prompt, reply
from bot.repair.task import Task, World, digest, over

REASKS = 2
"""How often a reply that cannot be used is asked again at once: costs money, not a turn."""


class Asker:
    """Counts what the model costs, and remembers what was tried. `broke` says when the money is at its end."""

    def __init__(self, task: Task, world: World, start: Files) -> None:
        self.task, self.world = task, world
        self.spend = Spend()
        self.broke = ""
        self._tried = {digest(start)}

    def propose(
        self, packet: RepairPacket, strategy: Strategy, index: int, hole: Hole | None, best: Files
    ) -> tuple[Proposal, Files]:
        """A proposal against the state `best` and the overlay it makes; Rejected once the re-asks are used up."""
        read = over(best, self.task.read)
        correction: str | None = None
        for _ in range(1 + REASKS):
            asked = prompt.render(
                packet,
                strategy=strategy,
                edit_format=EditFormat.HOLE if hole else self._format(strategy),
                read=self.world.shown(read),
                max_tokens=self.task.max_tokens,
                attempt=index,
                correction=correction,
                hole=hole,
            )
            if not self._affordable(asked):
                return Rejected(reason="the money left does not cover another call", rule="budget"), {}
            said, form, near = self._ask(asked), asked.edit_format, excerpts.files(packet)
            parsed = reply.parse(said, read=read, edit_format=form, paths=self.task.paths, hole=hole, near=near)
            proposal, files = self._checked(parsed, best)
            if not isinstance(proposal, Rejected):
                return proposal, files
            if proposal.rule == "refusal":
                break
            correction = proposal.reason
        return proposal, {}

    def tried(self, files: Files) -> None:
        """Remember a state, so that it is not tried again."""
        self._tried.add(digest(files))

    def _ask(self, asked: Prompt) -> Reply:
        answer = self.world.proposer_for(asked.strategy).ask(asked)
        self.spend += answer.spend
        said = {"text": answer.text, "tool": answer.tool_name, "input": dict(answer.tool_input)}
        name = f"attempt-{asked.packet.iteration}/reply-{self.spend.model_calls}.json"
        self.world.trail.attach(name, pretty({"strategy": asked.strategy, **said}))
        return answer

    def _checked(self, proposal: Proposal, best: Files) -> tuple[Proposal, Files]:
        """The overlay of a patch over the head commit, unless it does not apply, breaks a rule or was tried before."""
        if not isinstance(proposal, Patch):
            return proposal, {}
        task = self.task
        touched = apply(proposal, over(best, task.read))
        if isinstance(touched, Rejected):
            return touched, {}
        broken = oracle.check(
            touched,
            protected=task.protected,
            paths=task.paths,
            read=task.read,
            protect=task.protect,
            allow=task.allow,
        )
        if broken:
            return broken, {}
        files = {**best, **touched}
        if digest(files) in self._tried:
            reason = "this is the code as it is now, or a patch that was refused before; propose a different change"
            return Rejected(reason=reason, rule="repeated"), {}
        return proposal, files

    def _affordable(self, asked: Prompt) -> bool:
        price, cap = self.world.proposer_for(asked.strategy).price(asked), self.task.budget.dollars
        if self.spend.dollars + price <= cap:
            return True
        self.broke = f"money: ${self.spend.dollars:.2f} of ${cap:.2f} spent, the next call may cost ${price:.2f}"
        return False

    def _format(self, strategy: Strategy) -> EditFormat:
        return EditFormat.TOOL if strategy is Strategy.SECOND_MODEL else self.task.edit_format


def pretty(content: Mapping[str, object]) -> bytes:
    """JSON for the trail's files."""
    return json.dumps(content, indent=2, ensure_ascii=False, default=str).encode("utf-8", "replace")
