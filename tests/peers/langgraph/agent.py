"""An agent of LangGraph that is measured: `agent.py URL FOLDER ROUNDS TURNS EARLIER...`.

In each round a new conversation has so many earlier turns, and then TURNS more, which are measured. Every step is in a
file of SQLite, and synced, before the next one begins. Prints a line of JSON for each number of earlier turns: the times
in milliseconds, on average the processor time, and the resident memory in bytes.
"""

import json
import sqlite3
import sys
import time
from pathlib import Path

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver


def inspect_location(detail_level: str = "full") -> str:
    """Looks around."""
    return json.dumps({"room": "Attic", "exits": ["down"]})


def wind(thing: str) -> str:
    """The wind where a thing is."""
    return json.dumps({"wind": "calm", "at": {"thing": thing}})


def resident_bytes() -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    kilobytes = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
    return 1024 * int(kilobytes[0]) if kilobytes else 0


def main() -> None:
    url, folder, rounds, turns, *points = sys.argv[1:]
    database = sqlite3.connect(Path(folder) / "langgraph.sqlite", check_same_thread=False)
    saver = SqliteSaver(database)
    saver.setup()
    database.execute("PRAGMA synchronous = FULL")
    model = ChatOpenAI(model="tiny", base_url=url, api_key="none", max_retries=0)
    agent = create_agent(
        model,
        [inspect_location, wind],
        system_prompt="You are Dormouse, who lives in this place.",
        checkpointer=saver,
    )

    def say(conversation: str, words: str) -> None:
        message = {"messages": [{"role": "user", "content": words}]}
        config = {"configurable": {"thread_id": conversation}}
        state = agent.invoke(message, config, durability="sync")
        lately = state["messages"][-10:]
        assert [it.type for it in lately] == ["human"] + ["ai", "tool"] * 4 + ["ai"], lately

    say("warm", "what is new?")
    points = sorted(int(point) for point in points)
    walls = {point: [] for point in points}
    busy = {point: 0.0 for point in points}
    for conversation in range(int(rounds)):
        said = 0
        for point in points:
            while said < point:
                say(str(conversation), f"what is new, friend {said}?")
                said += 1
            before = time.process_time()
            for _ in range(int(turns)):
                started = time.perf_counter()
                say(str(conversation), f"what is next, friend {said}?")
                walls[point].append(1e3 * (time.perf_counter() - started))
                said += 1
            busy[point] += 1e3 * (time.process_time() - before)
    for point in points:
        took = {
            "earlier": point,
            "walls": walls[point],
            "processor": busy[point] / len(walls[point]),
            "resident": resident_bytes(),
        }
        print(json.dumps(took), flush=True)


main()
