"""The only way out of a set-up box: a proxy that reaches public addresses and nothing of ours."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import docker

from bot.adapters.docker_box import LABEL, Box, Plan
from bot.adapters.docker_client import output_of
from bot.domain.execution import Limits
from bot.sandbox import local_addresses

PORT = 3128

FORBIDDEN = (
    "0.0.0.0/8 127.0.0.0/8 ::1 ::/128",  # loopback
    "169.254.0.0/16 fe80::/10",  # link-local: the metadata address of clouds
    "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7",  # private (RFC 1918, RFC 4193)
    "100.64.0.0/10",  # carrier-grade NAT (RFC 6598)
    "224.0.0.0/4 255.255.255.255 ff00::/8",  # multicast
    "::ffff:0:0/96 64:ff9b::/96",  # the same again, written as IPv6
    "168.63.129.16",  # Azure's wire server, which GitHub's runners reach
)

SCRIPT = """
printf '%s' "$SELFREPAIR_CONF" >/tmp/squid.conf
squid -N -d 1 -f /tmp/squid.conf &
cat >/dev/null
kill $!
"""


def squid_conf(own: Sequence[str], allow: Sequence[str] = ()) -> str:
    """Squid's configuration: refuses FORBIDDEN, the host's `own` addresses, and what `allow` (domains) leaves out."""
    named = [f"acl named dstdomain {' '.join(allow)}", "http_access deny !named"] if allow else []
    return "\n".join(
        [
            f"http_port {PORT}",
            *(f"acl forbidden dst {line}" for line in (*FORBIDDEN, *sorted(own))),
            "acl web port 80 443",
            "acl tls port 443",
            "http_access deny forbidden",
            "http_access deny !web",
            "http_access deny CONNECT !tls",
            *named,
            "http_access allow all",
            # A name must keep, between the check and the connection, the address that was checked (DNS rebinding).
            "negative_dns_ttl 60 seconds",
            "cache deny all",
            "cache_mem 8 MB",
            "access_log none",
            "cache_log /dev/null",
            "pid_filename none",
            "pinger_enable off",
            "coredump_dir none",
            "logfile_rotate 0",
            "shutdown_lifetime 0 seconds",
            "via off",
            "forwarded_for delete",
            "",
        ]
    )


class Egress:
    """A network without a way out, and the proxy that stands in it and in Docker's ordinary one."""

    def __init__(
        self, client: docker.DockerClient, *, image: str, runtime: str, run_id: str, allow: Sequence[str] = ()
    ) -> None:
        """Make both; `image` holds squid, as the product's own does. Raises Fault, or what the docker SDK raises."""
        self._client = client
        conf = squid_conf(_host_addresses(client, image, run_id), allow)
        # Without `inhibit_ipv4` the host itself would have an address in the network, and its services be in reach.
        self._network = client.networks.create(
            f"selfrepair-{run_id}",
            driver="bridge",
            internal=True,
            options={"com.docker.network.bridge.inhibit_ipv4": "true"},
            labels={LABEL: run_id},
        )
        self._proxy = Box(client, _plan(image, runtime, run_id, conf))
        self._network.connect(self._proxy.id)
        self._proxy.launch(b"Accepting HTTP Socket connections")
        told = client.api.inspect_container(self._proxy.id)["NetworkSettings"]["Networks"][self.network]
        self.url = f"http://{told['IPAddress']}:{PORT}"

    @property
    def network(self) -> str:
        """The network that set-up boxes join."""
        return str(self._network.name)

    @property
    def env(self) -> dict[str, str]:
        """What tools read to find the proxy: set for set-up commands only."""
        names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        return {**dict.fromkeys(names, self.url), "no_proxy": "localhost,127.0.0.1", "NO_PROXY": "localhost,127.0.0.1"}

    def close(self) -> None:
        """Remove proxy and network."""
        self._proxy.remove()
        self._network.remove()


def _plan(image: str, runtime: str, run_id: str, conf: str) -> Plan:
    scratch = dict.fromkeys(("/tmp", "/run", "/var/spool/squid", "/var/log/squid"), "size=16m,mode=1777")  # noqa: S108
    return Plan(
        image=image,
        runtime=runtime,
        run_id=run_id,
        limits=Limits(memory_mb=512, cpus=1.0),
        network="bridge",
        tmpfs=scratch,
        read_only=True,
        user="proxy",
        env={"SELFREPAIR_CONF": conf},
        script=SCRIPT,
    )


def _host_addresses(client: docker.DockerClient, image: str, run_id: str) -> list[str]:
    """The host's own IPv4 addresses, public ones too, read in its network namespace."""
    out = output_of(
        client,
        image,
        ["/bin/cat", "/proc/net/fib_trie"],
        network_mode="host",
        runtime="runc",
        user="65534:65534",
        cap_drop=["ALL"],
        labels={LABEL: run_id},
    )
    told = local_addresses(out.decode("ascii", "replace"))
    return [address for address in told if not ipaddress.ip_address(address).is_loopback]
