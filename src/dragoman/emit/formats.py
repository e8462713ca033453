r"""The formats of JSON Schema's strings, as patterns of our own after the RFCs that define them.

Left out is what a model has no use for: the year 0, leap seconds, quoted mailboxes, addresses instead of a mail's host,
IPv6 zones.
"""

from __future__ import annotations

from functools import cache

from .patterns import pattern
from .rules import Expr

__all__ = ["FORMATS", "format_rule"]

_LEAP = r"(\d\d(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_YEAR = r"(\d{3}[1-9]|\d\d[1-9]\d|\d[1-9]\d\d|[1-9]\d{3})"
_DATE = (
    rf"({_YEAR}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))"
    rf"|{_LEAP}-02-29)"
)
_HOUR = r"([01]\d|2[0-3])"
_TIME = rf"{_HOUR}:[0-5]\d:[0-5]\d(\.\d{{1,9}})?(Z|[+-]{_HOUR}:[0-5]\d)"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = rf"{_LABEL}(\.{_LABEL})*"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_OCTET = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"({_OCTET}\.){{3}}{_OCTET}"
_H16 = r"[0-9A-Fa-f]{1,4}"
_LS32 = rf"({_H16}:{_H16}|{_IPV4})"
_IPV6 = "|".join(
    [
        rf"({_H16}:){{6}}{_LS32}",
        rf"::({_H16}:){{5}}{_LS32}",
        rf"({_H16})?::({_H16}:){{4}}{_LS32}",
        *(rf"(({_H16}:){{0,{k}}}{_H16})?::({_H16}:){{{4 - k}}}{_LS32}" for k in range(1, 5)),
        rf"(({_H16}:){{0,5}}{_H16})?::{_H16}",
        rf"(({_H16}:){{0,6}}{_H16})?::",
    ]
)
_ESCAPED = r"%[0-9A-Fa-f]{2}"
_PATH = rf"([A-Za-z0-9._~!$&'()*+,;=:@-]|{_ESCAPED})"
_REST = rf"(\?({_PATH}|[/?])*)?(#({_PATH}|[/?])*)?"
_AUTHORITY = rf"//(([A-Za-z0-9._~!$&'()*+,;=:-]|{_ESCAPED})*@)?({_HOST}|\[({_IPV6})\])?(:\d{{1,5}})?"
_CLOCK = r"T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S)"
_DAYS = r"(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)"

FORMATS = {
    "date": _DATE,  # RFC 3339, 5.6
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": rf"P({_DAYS}({_CLOCK})?|{_CLOCK}|\d+W)",  # RFC 3339, appendix A
    "uuid": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",  # RFC 4122
    "email": rf"{_ATOM}(\.{_ATOM})*@{_HOST}",  # RFC 5321, 4.1.2
    "hostname": _HOST,  # RFC 1123, 2.1
    "ipv4": _IPV4,  # RFC 2673, 3.2
    "ipv6": _IPV6,  # RFC 3986, 3.2.2
    "uri": rf"[A-Za-z][A-Za-z0-9+.-]*:({_AUTHORITY}(/{_PATH}*)*|/?({_PATH}+(/{_PATH}*)*)?){_REST}",  # RFC 3986
}
"""What can be enforced, as patterns of the whole text."""


@cache
def format_rule(name: str) -> Expr:
    """The texts of a format; raises `KeyError` for one that is not among `FORMATS`."""
    return pattern(f"^({FORMATS[name]})$")
