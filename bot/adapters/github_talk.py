"""What people see: one pull request, one comment, its labels; looked for first, so that twice is once."""

from __future__ import annotations

from urllib.parse import quote

from github import GithubException, UnknownObjectException
from github.Issue import Issue
from github.IssueComment import IssueComment
from github.PullRequest import PullRequest as Pull

from bot.adapters.github_api import Denied, Hub, listed, message
from bot.domain.attempt import Fault
from bot.domain.ports import Comment, PullRequest

NEED = "pull-requests: write"
_COLOR = "8250df"


def pull_request(hub: Hub, effect: PullRequest) -> Pull:
    """The one pull request of the branch, made or brought up to date; a closed one is left as its closer wanted it."""

    def step() -> Pull:
        found = find(hub, effect.head) or _open(hub, effect)
        if found.state == "open" and (found.title, found.body) != (effect.title, effect.body):
            found.edit(title=effect.title, body=effect.body)
        return found

    return hub.do(f"opening a pull request onto {effect.base}", NEED, step)


def find(hub: Hub, branch: str) -> Pull | None:
    """The open pull request from our own branch, else the newest closed one."""
    owner = hub.repo.full_name.split("/")[0]
    found = listed(hub.repo.get_pulls(state="all", head=f"{owner}:{branch}"))
    # GitHub answers with every pull request when it cannot make sense of `head`
    ours = [pull for pull in found if pull.head.ref == branch and pull.head.label == f"{owner}:{branch}"]
    return next((pull for pull in ours if pull.state == "open"), ours[0] if ours else None)


def _open(hub: Hub, effect: PullRequest) -> Pull:
    try:
        return hub.repo.create_pull(effect.base, effect.head, title=effect.title, body=effect.body)
    except GithubException as error:
        if error.status != 422 or "already exists" not in message(error):
            raise
    found = find(hub, effect.head)  # another run was faster, or the first answer was lost
    if found is None:
        raise Fault("GitHub has a pull request of this branch but does not show it", fix="Run the job again.")
    return found


def compare_link(hub: Hub, effect: PullRequest) -> str:
    """Where a person opens the pull request with one click."""
    return f"{hub.server_url}/{hub.name}/compare/{quote(effect.base)}...{quote(effect.head)}?expand=1"


def label(hub: Hub, pull: Pull, names: tuple[str, ...]) -> tuple[str, ...]:
    """Give the pull request its labels, made where missing; returns a note where that is not allowed."""
    missing = [name for name in names if name not in {label.name for label in pull.labels}]
    if not missing:
        return ()
    try:
        for name in missing:
            hub.do(f"making label {name}", NEED, lambda name=name: _make_label(hub, name))  # type: ignore[misc]
        hub.do("labelling the pull request", NEED, lambda: pull.add_to_labels(*missing))
    except Denied as fault:
        return (f"not labelled: {fault}. {fault.fix}",)
    return ()


def _make_label(hub: Hub, name: str) -> None:
    try:
        hub.repo.get_label(name)
    except UnknownObjectException:
        try:
            hub.repo.create_label(name, _COLOR, "Made by selfrepair")
        except GithubException as error:
            if error.status != 422:  # 422: another run made it between our look and our try
                raise


def comment(hub: Hub, number: int, effect: Comment) -> IssueComment:
    """Our one comment with this marker on issue or pull request `number`, made or brought up to date."""
    marker = effect.marker if effect.marker.startswith("<!--") else f"<!-- {effect.marker} -->"
    body = effect.body if effect.body.startswith(marker) else f"{marker}\n{effect.body}"

    issue = Issue(hub.client.requester, attributes={"url": f"{hub.repo.url}/issues/{number}"}, completed=True)

    def step() -> IssueComment:
        found = next((one for one in listed(issue.get_comments()) if _ours(hub, one, marker)), None)
        try:
            if found is not None and found.body != body:
                found.edit(body)
        except UnknownObjectException:  # deleted since we looked
            found = None
        return found or issue.create_comment(body)

    return hub.do(f"commenting on #{number}", NEED, step)


def _ours(hub: Hub, comment: IssueComment, marker: str) -> bool:
    """Attack: somebody else posts our marker, so that we fail to write over it, or edit their words."""
    body = (comment.body or "").replace("\r\n", "\n")
    return body.startswith(marker) and comment.user is not None and comment.user.login == hub.login
