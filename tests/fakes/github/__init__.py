"""A stateful stand-in for GitHub: REST, git smart HTTP and log storage over one real bare repository."""

from tests.fakes.github.stand_in import GitHubStandIn as GitHubStandIn
