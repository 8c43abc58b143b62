"""A web server with Dagster's pages and the readers of all corpora; the code server and the daemon beside it.

`dagster-webserver` and `dagster dev` serve Dagster's pages alone, to every page that a browser shows. Here: the same
with readers, behind a gate. Not here: what the gate lets through (gate), the readers (reporting.reader.serving),
commands (cli).
"""

import os
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from types import MappingProxyType

import dagster as dg
import uvicorn
import yaml
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._grpc.client import DagsterGrpcClient
from dagster._grpc.server import wait_for_grpc_server
from dagster_webserver import cli as original
from dagster_webserver.app import create_app_from_workspace_process_context
from dagster_webserver.version import __version__
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route

from benchmark_assets.automation import tied
from benchmark_assets.automation.gate import HOST, Gate
from benchmark_assets.reporting.cards import READERS
from benchmark_assets.reporting.reader import serving
from resources.errors import BadInput
from resources.home import PROJECT
from resources.warehouse import Warehouse

WORKSPACE = PROJECT / "workspace.yaml"

LOCAL = serving.LOCAL
"""Hosts that only this machine reaches."""

STARTING = 180
"""Seconds after which a code server that does not answer has failed."""

RETRIED = "30"
"""Seconds between two looks of the daemon for runs whose process died. By default, five."""

PATIENCE = 20
"""Seconds from a request to end until a process is killed."""


def listener(host: str, port: int, private: bool, allowed: Sequence[str] = ()) -> socket.socket:
    """Reserve the address of a server. Connections wait until it is served.

    Parameters
    ----------
    allowed
        Further names of the server, which `hosts` adds to those that it listens at.

    Raises
    ------
    BadInput
        If the address is in use or unknown, or has no name that a browser could send; or if other machines might read
        the restricted texts of private readers.
    """
    for name in (host, *allowed):
        if private and name not in LOCAL:
            raise BadInput(
                "--private", "", f"would show restricted texts to all machines that reach {name}",
                f"leave out --private, or serve at {' or '.join(LOCAL)}",
            )  # fmt: skip
    for name in allowed:
        if not (parts := HOST.fullmatch(name)) or parts[2]:
            example = "variorum.example or 192.0.2.7"
            raise BadInput("--allowed-host", "", f"{name!r} is not a name", f"leave out scheme and port: {example}")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if ip_address(address[0]).is_unspecified and not allowed:
            problem = f"is missing, and {host} stands for every address of this machine"
            remedy = "add --allowed-host NAME for each name that is typed in browsers"
            raise BadInput("--allowed-host", "", problem, remedy)
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        problem = f"cannot be served ({str(error.strerror).partition(' (')[0]})"  # Python adds the address
        raise BadInput(f"{host}:{port}", "", problem, "choose another address with --host and --port") from error


def hosts(host: str, listening: socket.socket, allowed: Sequence[str]) -> frozenset[str]:
    """The names by which a server is reached: what it listens at, and what is allowed beside that."""
    address = ip_address(listening.getsockname()[0])
    own = [host, str(address), *(LOCAL if address.is_loopback or address.is_unspecified else ())]
    return frozenset(name.strip("[]").lower() for name in (*own, *allowed))


def serve(
    instance: dg.DagsterInstance, warehouse: Warehouse, workspace: Path, listening: socket.socket, *,
    names: Collection[str], private: bool, read_only: bool = False,
    beside: Mapping[str, subprocess.Popen[bytes]] = MappingProxyType({}),
) -> None:  # fmt: skip
    """Serve Dagster's pages and the readers until Ctrl-C or SIGTERM, or until a process in `beside` ends.

    Parameters
    ----------
    workspace
        The file that tells Dagster where the definitions are.
    names
        The hosts for which requests are answered.
    private
        Whether to serve private readers.
    read_only
        Whether Dagster's pages refuse to start or to change anything.

    Raises
    ------
    BadInput
        If one of the processes in `beside`, which are given by name, has ended.
    """
    instance.optimize_for_webserver(
        original.DEFAULT_DB_STATEMENT_TIMEOUT, original.DEFAULT_POOL_RECYCLE, original.DEFAULT_POOL_MAX_OVERFLOW
    )
    target = WorkspaceFileTarget([str(workspace)])
    with WorkspaceProcessContext(instance, target, version=__version__, read_only=read_only) as context:
        pages = create_app_from_workspace_process_context(context)
        server = uvicorn.Server(
            uvicorn.Config(application(pages, warehouse, private, names, read_only), log_level="warning")
        )
        for process in beside.values():
            Thread(target=_end_with, args=(process, server), daemon=True).start()
        server.run(sockets=[listening])
    for name, process in beside.items():
        if process.poll() is not None:
            raise BadInput(name, "", f"ended (exit code {process.returncode})", "see its messages, then start again")


def application(
    pages: Starlette, warehouse: Warehouse, private: bool, names: Collection[str], read_only: bool = False
) -> Starlette:
    """The readers, and `pages` at all other addresses, behind the gate."""
    readers = Mount(READERS, routes=serving.routes(warehouse, private, read_only))
    routes = [Route(READERS, lambda _: RedirectResponse(f"{READERS}/")), readers, Mount("/", pages)]
    return Starlette(routes=routes, middleware=[Middleware(Gate, hosts=names)])


def _end_with(process: subprocess.Popen[bytes], server: uvicorn.Server) -> None:
    process.wait()
    server.should_exit = True


@contextmanager
def services() -> Iterator[tuple[Path, dict[str, subprocess.Popen[bytes]]]]:
    """A code server and the daemon, until the block ends; yield a workspace file that names the code server.

    The web server and the daemon share the code server, which takes 200 MB. It loads the definitions again if a page
    asks it to.
    """
    (entry,) = yaml.safe_load(WORKSPACE.read_text(encoding="utf-8"))["load_from"]
    location, module = entry["python_module"]["location_name"], entry["python_module"]["module_name"]
    with TemporaryDirectory() as folder:
        place, workspace = f"{folder}/code", Path(folder) / "workspace.yaml"
        server = {"grpc_server": {"socket": place, "location_name": location}}
        workspace.write_text(yaml.safe_dump({"load_from": [server]}), encoding="utf-8")
        start = ["start", "--socket", place, "--location-name", location, "--module-name", module]
        start += ["--use-python-environment-entry-point", "--log-level", "warning"]  # runs have this environment
        with _running("dagster", "code-server", *start) as code_server:
            wait_for_grpc_server(code_server, DagsterGrpcClient(socket=place), start, STARTING)
            os.environ.setdefault("DAGSTER_EVENT_LOG_CONSUMER_DAEMON_INTERVAL_SECONDS", RETRIED)
            with _running("dagster-daemon", "run", "--workspace", str(workspace)) as daemon:
                yield workspace, {"the code server": code_server, "Dagster's daemon": daemon}


@contextmanager
def _running(program: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program of this environment, until the block or this process ends."""
    path = str(Path(sys.executable).with_name(program))
    process = subprocess.Popen([sys.executable, tied.__file__, str(os.getpid()), path, *arguments])
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
