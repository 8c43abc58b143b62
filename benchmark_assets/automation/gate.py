"""The gate before every route of the web server: which requests it lets through.

A person who reaches Dagster's pages can read all texts, start paid runs and delete records, and Dagster asks for no
password. A browser sends requests to this server for any page that it shows. Here: what tells such a request from one
of our own pages, or of a program. Not here: routes (webserver), who a person is (a proxy, docs/deployment.md).

What Dagster 1.13 serves (`test_gate.py` fails at a route that is not listed):

| route | what it does |
|---|---|
| `/graphql` | reads and changes everything, also telemetry (`logTelemetry`): GET, POST, websocket |
| `/report_asset_materialization/`, `/report_asset_check/`, `/report_asset_observation/` | POST: record an event |
| `/logs/`, `/download_debug/` | what runs printed; all events of a run |
| `/notebook`, `/dagit/notebook` | shows a notebook of the code location as a page |
| `/server_info`, `/dagit_info` | versions |
| all others | Dagster's page and its static files, which hold nothing of a home |
"""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

HEALTH = "/healthz"
"""The path for probes: answered for every host, with nothing in it."""

GRAPHQL = "/graphql"

ENDPOINTS = (
    GRAPHQL, "/report_asset_materialization/", "/report_asset_check/", "/report_asset_observation/", "/logs/",
    "/download_debug/", "/notebook", "/dagit/notebook", "/server_info", "/dagit_info",
)  # fmt: skip
"""Beginnings of the paths that change or show something by themselves; a link from another site leads to none."""

READING = ("GET", "HEAD")

PORTS = {"http": 80, "https": 443}
"""Ports that browsers leave out of `Origin` and `Host`."""

HOST = re.compile(r"(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?", re.ASCII | re.IGNORECASE)

UNSHARED = {"X-Frame-Options": "SAMEORIGIN", "Cross-Origin-Resource-Policy": "same-origin"}
"""Headers that forbid other sites to frame a page or to load a file, also in browsers without `Sec-Fetch-Site`: these
send it only to https and to this machine."""


class Gate:
    """An ASGI application that passes on to another what is allowed, and refuses the rest with a reason (403).

    Parameters
    ----------
    hosts
        Names and addresses, in lower case and without a port, by which the server is reached. A page of another site
        can give its own name to the address of this server, and is then told by the name alone.
    """

    def __init__(self, application: ASGIApp, hosts: Collection[str]) -> None:
        self._application = application
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == HEALTH:
            await Response(status_code=204)(scope, receive, send)
        elif (reason := refusal(scope, self._hosts)) is None:
            await self._application(scope, receive, _unshared(send))
        elif scope["type"] == "websocket":
            await WebSocketClose(1008, reason)(scope, receive, send)
        else:
            headers = {"X-Content-Type-Options": "nosniff"}
            await PlainTextResponse(f"{reason}\n", 403, headers)(scope, receive, send)


def refusal(scope: Scope, hosts: Collection[str]) -> str | None:
    """Why a request is refused, with what to do; None for a request that may pass."""
    headers = Headers(scope=scope)
    host = _host(headers)
    if host is None or host[0] not in hosts:
        return (
            f"Host {', '.join(headers.getlist('host')) or 'missing'}: not a name of this server. "
            "Use one that it was started with, or start it with --allowed-host NAME"
        )
    for origin in headers.getlist("origin"):
        if not _same(origin, *host):
            return (
                f"Origin {origin}: a page of another site may not do this. "
                "If a proxy serves this page, let it pass on the Host that the browser sent"
            )
    method, path = scope.get("method", "websocket"), scope["path"]
    if not {*headers.getlist("sec-fetch-site")} <= {"same-origin", "none"}:
        followed = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        if not followed or method not in READING or path.startswith(ENDPOINTS):
            return "A page of another site may link to pages of this server, and do nothing else"
    if path.startswith(GRAPHQL) and method in READING:  # Starlette also finds the route with a line break at its end
        return _changing(scope)
    if path.startswith(GRAPHQL) and method == "POST" and _media_type(headers) != "application/json":
        return "GraphQL by POST needs Content-Type: application/json, which no form of another site can send"
    return None


def _host(headers: Headers) -> tuple[str, int | None] | None:
    """Name, without brackets, and port of the one header `Host`; None if there is no such header, or several."""
    match headers.getlist("host"):
        case [value] if parts := HOST.fullmatch(value):
            return parts[1].strip("[]").lower(), int(parts[2]) if parts[2] else None
    return None


def _same(origin: str, name: str, port: int | None) -> bool:
    """Whether an origin has the name and the port to which the request goes.

    The scheme is left open: behind a proxy, this server does not see it.
    """
    try:
        parts = urlsplit(origin)
        usual = PORTS[parts.scheme]
        return (parts.hostname, parts.port or usual) == (name, port or usual)
    except (KeyError, ValueError):  # another scheme, `null`, no number as a port
        return False


def _media_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _changing(scope: Scope) -> str | None:
    """Why a GraphQL document in an address is refused: it has something else than queries."""
    for document in QueryParams(scope["query_string"]).getlist("query"):
        try:
            operations = parse(document).definitions
        except (GraphQLError, RecursionError):
            return "GraphQL by GET: the query cannot be parsed"
        for operation in operations:
            if isinstance(operation, OperationDefinitionNode) and operation.operation != OperationType.QUERY:
                return f"GraphQL by GET reads only: send a {operation.operation.value} by POST, as JSON"
    return None


def _unshared(send: Send) -> Send:
    async def passed_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(UNSHARED)
        await send(message)

    return passed_on
