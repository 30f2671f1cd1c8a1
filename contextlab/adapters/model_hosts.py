"""Where a model may be asked: looked at by name before anything is sent, and by address when the connection is made.

| mode   | name                                        | address that it has at that moment                            |
|--------|---------------------------------------------|---------------------------------------------------------------|
| local  | the one that the user set                   | loopback for localhost, 127.x and ::1; for other names any    |
|        |                                             | but link-local, multicast and unspecified ones                |
| server | on the operator's list                      | on the list as an address or a network, else a public one     |

Names are resolved once, all their addresses are looked at, and one of those that were looked at is connected to: what a
name has become since it was checked is never asked. Redirects are not followed (openai_client.py).
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Sequence[str]]
LOCAL_NAMES = ("localhost", "ip6-localhost")


@dataclass(slots=True, frozen=True)
class HostRule:
    """Which hosts may be asked. `listed`: names, addresses and networks (10.0.0.0/8) of the operator."""

    local: bool = True
    listed: tuple[str, ...] = ()

    def name(self, host: str) -> str:
        """Why this name may not be asked; empty where it may."""
        host = plain(host)
        if not host:
            return "the base URL names no host"
        if self.local or host in map(plain, self.listed) or self._lists(address_of(host)):
            return ""
        return f"the host {host!r} is not on the operator's list (CONTEXTLAB_MODEL_HOSTS)"

    def address(self, host: str, found: str) -> str:
        """Why an address that the name has may not be connected to; empty where it may."""
        host, address = plain(host), address_of(found)
        if address is None:
            return f"the host {host!r} has an address that cannot be read"
        if self.local:
            return self._local(host, address)
        if self._lists(address) or (host in LOCAL_NAMES and address.is_loopback):
            return ""
        if address.is_global and not address.is_multicast:
            return ""
        return (
            f"the host {host!r} is at {address}, which is no public address; where that is meant, list the address"
            " as well (CONTEXTLAB_MODEL_HOSTS)"
        )

    def _local(self, host: str, address: Address) -> str:
        given = address_of(host)
        if (host in LOCAL_NAMES or (given is not None and given.is_loopback)) and not address.is_loopback:
            return f"{host!r} is not on this machine but at {address}"
        odd = address.is_link_local or address.is_multicast or address.is_unspecified
        return f"the host {host!r} is at {address}, where no model is" if odd else ""

    def _lists(self, address: Address | None) -> bool:
        return address is not None and any(
            address in network for network in map(network_of, self.listed) if network
        )


def plain(host: str) -> str:
    """A host's name as it is compared: small letters, no brackets, no dot at the end."""
    return host.strip().strip("[]").rstrip(".").lower()


def address_of(text: str) -> Address | None:
    """An address in its plain form: one that is written inside an IPv6 address as itself; None for a name."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return inner or address


def network_of(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """The network that an entry of a list names; None for a name."""
    try:
        return ipaddress.ip_network(plain(text), strict=False)
    except ValueError:
        return None


def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, each once; raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
