"""An agent on the Python SDK of the Model Context Protocol: `agent.py PROGRAM FOLDER` prints what it was answered, as JSON."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def visit(program, folder, mode):
    arguments = ["mcp", "--memory", f"{folder}/notes.redb"]
    environment = {"HOME": folder, "PATH": "/usr/bin:/bin"}
    server = StdioServerParameters(command=program, args=arguments, env=environment)
    async with Client(server, mode=mode) as agent:
        tools = await agent.list_tools()
        note = {"text": f"Alice keeps her {mode} kettle in the blue box.", "said_by": "Alice", "key": mode}
        told = await agent.call_tool("remember", note)
        found = await agent.call_tool("recall", {"query": "Where does Alice keep the kettle?"})
        wrong = await agent.call_tool("recall", {"query": "kettle", "tokens": 0})
        return {
            "server": agent.server_info.name if agent.server_info else None,
            "tools": [tool.name for tool in tools.tools],
            "new": told.structured_content["new"],
            "found": [item["text"] for item in found.structured_content["items"]],
            "text": found.content[0].text,
            "wrong": [wrong.is_error, wrong.content[0].text],
        }


async def main(program, folder):
    for mode in ["legacy", "auto", "2026-07-28"]:
        print(json.dumps({"mode": mode} | await visit(program, folder, mode)))


asyncio.run(main(*sys.argv[1:]))
