#!/usr/bin/env python3
"""A real Evennia game on loopback for tests: from nothing to running, and stopped again.

    game.py start FOLDER PORTBASE    make what is missing, start, print one line of JSON (a game that runs is left as it is)
    game.py status FOLDER            print that line again (exit status 1 if it does not run)
    game.py stop|reload|reboot FOLDER
    game.py kill FOLDER              SIGKILL for Server and Portal
    game.py kill_server FOLDER       SIGKILL for the Server alone; `start` starts it again
    game.py run FOLDER PORTBASE COMMAND...   start, run the command, stop; its exit status is passed on

FOLDER/venv and FOLDER/game are kept if they exist: a second start takes a few seconds.
EVENNIA_VERSION chooses the version (5.0.1), PYTHON the interpreter; EVENNIA_VENV names a virtual
environment to use instead of FOLDER/venv. Passwords and hashing are for tests alone. Standard library only.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
VERSION = os.environ.get("EVENNIA_VERSION", "5.0.1")
ADMIN = ("admin", "admin-pw-of-tests")
PLAYERS = {"alice": "alice-pw-of-tests", "carol": "carol-pw-of-tests"}
RESIDENTS = {"bob": "bob-pw-of-tests", "eve": "eve-pw-of-tests"}

SETTINGS = """
TELNET_INTERFACES = WEBSERVER_INTERFACES = ["127.0.0.1"]
WEBSOCKET_CLIENT_INTERFACE = AMP_INTERFACE = AMP_HOST = "127.0.0.1"
TELNET_PORTS = [{base}]
WEBSERVER_PORTS = [({base} + 1, {base} + 5)]
WEBSOCKET_CLIENT_PORT = {base} + 2
AMP_PORT = {base} + 6
# For tests alone: many logins from one address, a flood that comes through, and hashing that takes no time.
MAX_COMMAND_RATE = 1000
LOGIN_THROTTLE_LIMIT = CREATION_THROTTLE_LIMIT = None
MAX_CONNECTION_RATE = 100
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
from evennia.settings_default import INPUT_FUNC_MODULES
INPUT_FUNC_MODULES += ["dormouse_evennia.inputfuncs"]
"""

# What the first start would do, without its automatic reset, in which input is lost.
BOOTSTRAP = """
import time
from django.conf import settings
from evennia.server import initial_setup
from evennia.server.models import ServerConfig
from evennia.server.service import EvenniaServerService
from evennia.utils.utils import class_from_module
from dormouse_evennia import residents
initial_setup.create_objects()
initial_setup.at_initial_setup()
ServerConfig.objects.conf("server_epoch", time.time())
ServerConfig.objects.conf("last_initial_setup_step", "done")
EvenniaServerService.create_default_channels(None)
account_class = class_from_module(settings.BASE_ACCOUNT_TYPECLASS)
for name, password in {players!r}.items():
    account, errors = account_class.create(username=name, password=password)
    assert account, errors
for name, password in {residents!r}.items():
    print(residents.create(name, password))
"""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Game:
    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.venv = Path(os.environ.get("EVENNIA_VENV", self.folder / "venv")).resolve()
        self.game = self.folder / "game"

    # -- from nothing ---------------------------------------------------------------------------

    def install(self) -> None:
        pip = [str(self.venv / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", "--no-input"]
        if not (self.venv / "bin" / "evennia").exists():
            say(f"installing evennia {VERSION} into {self.venv}")
            python = os.environ.get("PYTHON", "python3")
            subprocess.run([python, "-m", "venv", str(self.venv)], check=True)
            subprocess.run([*pip, f"evennia=={VERSION}"], check=True)
        # By path, so that a test runs the package as it is in the repository now.
        for packages in (self.venv / "lib").glob("python*/site-packages"):
            (packages / "dormouse_evennia_source.pth").write_text(f"{PACKAGE}\n")

    def make(self, base: int) -> None:
        settings = self.game / "server" / "conf" / "secret_settings.py"
        if not self.game.exists():
            self.evennia("--init", "game", folder=self.folder)
        # Written each time: another port base may be asked for.
        secret = "SECRET_KEY = 'only for tests on loopback, never for a game'\n"
        settings.write_text(secret + SETTINGS.format(base=base))
        done = self.folder / "made"
        if done.exists():
            return
        say("migrating and making accounts")
        self.evennia("migrate")
        bootstrap = BOOTSTRAP.format(players=PLAYERS, residents=RESIDENTS)
        say(self.evennia("shell", "-c", bootstrap).strip())
        done.write_text(VERSION)

    # -- running --------------------------------------------------------------------------------

    def start(self, base: int) -> dict:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.install()
        if not self.alive():
            self.make(base)
        self.wait_until_up()
        return self.describe()

    def wait_until_up(self) -> None:
        """The Portal answers before the Server does, and what is sent in between is lost."""
        # The launcher gives up after 30 s on a slow machine, with exit status 0; asked again, it goes on.
        for _ in range(4):
            if "server" not in self.running():
                self.evennia("start")
        base = self.base()
        wait("the websocket answers", lambda: answers(base + 2))
        wait("the Server answers", lambda: serves(f"http://127.0.0.1:{base + 1}/"))

    def describe(self) -> dict:
        base = self.base()
        return {
            "ws": f"ws://127.0.0.1:{base + 2}/",
            "web": f"http://127.0.0.1:{base + 1}/",
            "telnet": f"127.0.0.1:{base}",
            "pids": self.pids(),
            "folder": str(self.folder),
            "game": str(self.game),
            "venv": str(self.venv),
            "accounts": {**{ADMIN[0]: ADMIN[1]}, **PLAYERS, **RESIDENTS},
            "residents": list(RESIDENTS),
        }

    def base(self) -> int:
        text = (self.game / "server" / "conf" / "secret_settings.py").read_text()
        return int(text.split("TELNET_PORTS = [")[1].split("]")[0])

    def stop(self) -> None:
        pids = self.alive()
        if not pids:
            return
        self.evennia("stop", check=False)
        # `evennia stop` returns about a second before the processes end.
        try:
            wait("the processes end", lambda: not any(runs(pid) for pid in pids), seconds=20)
        except TimeoutError:
            self.kill()

    def reload(self) -> None:
        self.evennia("reload")
        self.wait_until_up()

    def reboot(self) -> None:
        self.evennia("reboot")
        self.wait_until_up()

    def kill(self) -> None:
        self._kill("server", "portal")

    def kill_server(self) -> None:
        self._kill("server")

    def _kill(self, *names: str) -> None:
        for name, pid in self.running().items():
            if name in names:
                os.kill(pid, signal.SIGKILL)
        wait("the processes end", lambda: not set(names) & set(self.running()))
        for name in names:
            (self.game / "server" / f"{name}.pid").unlink(missing_ok=True)

    def pids(self) -> dict[str, int]:
        found = {}
        for name in ("server", "portal"):
            file = self.game / "server" / f"{name}.pid"
            if file.exists() and file.read_text().strip().isdigit():
                found[name] = int(file.read_text())
        return found

    def running(self) -> dict[str, int]:
        return {name: pid for name, pid in self.pids().items() if runs(pid, str(self.game))}

    def alive(self) -> list[int]:
        return list(self.running().values())

    def evennia(self, *args: str, folder: Path | None = None, check: bool = True) -> str:
        env = dict(os.environ)
        # The launcher starts `twistd` from PATH.
        env["PATH"] = f"{self.venv / 'bin'}{os.pathsep}{env.get('PATH', '')}"
        env.pop("VIRTUAL_ENV", None)
        env.update(EVENNIA_SUPERUSER_USERNAME=ADMIN[0], EVENNIA_SUPERUSER_EMAIL="", EVENNIA_SUPERUSER_PASSWORD=ADMIN[1])
        # The processes that it leaves behind must not hold our pipes open: output goes to a file.
        log = self.folder / "launcher.log"
        with log.open("w+b") as out:
            command = [str(self.venv / "bin" / "evennia"), *args]
            done = subprocess.run(command, cwd=folder or self.game, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
            out.seek(0)
            text = out.read().decode("utf-8", "replace")
        if check and done.returncode != 0:
            raise SystemExit(f"evennia {args[0]} ended with {done.returncode}:\n{text}")
        return text


def runs(pid: int, folder: str | None = None) -> bool:
    """Whether the process runs; with a folder, whether it is still the game's (numbers are used again)."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
        return False
    command = Path(f"/proc/{pid}/cmdline")
    return folder is None or not command.exists() or folder.encode() in command.read_bytes()


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def serves(url: str) -> bool:
    """Whether the Server renders a page; the Portal alone answers with an error."""
    try:
        with urllib.request.urlopen(url, timeout=10) as page:
            return page.status == 200
    except (OSError, ValueError):
        return False


def wait(what: str, condition, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s until {what}")
        time.sleep(0.1)


def main(args: list[str]) -> int:
    if len(args) < 2 or args[0] not in ("start", "status", "stop", "reload", "reboot", "kill", "kill_server", "run"):
        say(__doc__)
        return 2
    game = Game(Path(args[1]))
    if args[0] == "start":
        print(json.dumps(game.start(int(args[2]))))
    elif args[0] == "status":
        if not game.alive():
            return 1
        print(json.dumps(game.describe()))
    elif args[0] == "run":
        return run(game, int(args[2]), args[3:])
    else:
        getattr(game, args[0])()
    return 0


def run(game: Game, base: int, command: list[str]) -> int:
    try:
        described = game.start(base)
        return subprocess.run(command, env={**os.environ, "EVENNIA_GAME": json.dumps(described)}).returncode
    finally:
        game.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
