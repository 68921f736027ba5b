"""One real game for all tests, and a client for each account that a test asks for."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from client import Admin, Client, Resident

SCRIPT = Path(__file__).resolve().parent.parent / "ci" / "game.py"


class RunningGame:
    """The game, as `ci/game.py` handles it."""

    def __init__(self, folder: Path, base: int) -> None:
        self.folder = folder
        self.base = base
        self.start()

    def script(self, command: str, *args: str) -> str:
        done = subprocess.run([sys.executable, str(SCRIPT), command, str(self.folder), *args], stdout=subprocess.PIPE, text=True)
        assert done.returncode == 0, f"game.py {command} ended with {done.returncode}"
        return done.stdout

    def start(self) -> None:
        self.known: dict = json.loads(self.script("start", str(self.base)).splitlines()[-1])

    def client(self, name: str) -> Client:
        kind = Resident if name in self.known["residents"] else Admin if name == "admin" else Client
        client = kind(self.known["ws"])
        client.login(name, self.known["accounts"][name])
        return client

    @property
    def database(self) -> Path:
        return Path(self.known["game"]) / "server" / "evennia.db3"


def free_base() -> int:
    for base in range(24_000, 30_000, 10):
        if all(is_free(base + offset) for offset in (0, 1, 2, 5, 6)):
            return base
    raise RuntimeError("no five free ports")


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.fixture(scope="session")
def game(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGame]:
    kept = os.environ.get("EVENNIA_TEST_FOLDER")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("evennia")
    running = RunningGame(folder, free_base())
    yield running
    # EVENNIA_TEST_KEEP leaves the game running for the next run; `game.py reload` then loads changes.
    if not os.environ.get("EVENNIA_TEST_KEEP"):
        running.script("stop")


@pytest.fixture
def log_in(game: RunningGame) -> Iterator[Callable[[str], Client]]:
    """Logs in, and out again at the end of the test."""
    clients: list[Client] = []

    def new(name: str) -> Client:
        clients.append(game.client(name))
        return clients[-1]

    yield new
    for client in clients:
        client.close()


@pytest.fixture
def admin(log_in: Callable[[str], Client]) -> Client:
    return log_in("admin")


@pytest.fixture
def alice(log_in: Callable[[str], Client]) -> Client:
    return log_in("alice")


@pytest.fixture
def carol(log_in: Callable[[str], Client]) -> Client:
    return log_in("carol")


@pytest.fixture
def bob(log_in: Callable[[str], Client]) -> Resident:
    """A resident that has heard and acknowledged all that was kept."""
    return greeted(log_in("bob"))


@pytest.fixture
def eve(log_in: Callable[[str], Client]) -> Resident:
    return greeted(log_in("eve"))


def greeted(resident: Resident) -> Resident:
    resident.greeting = resident.hello()
    resident.events()
    resident.ack_all()
    resident.fence()
    resident.seen.clear()
    return resident
