"""A visitor on the Python SDK of the Model Context Protocol: `visitor.py URL PROGRAM` prints what it was answered, as JSON."""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ResourceUpdatedNotification

TOKEN = os.environ["DORMOUSE_TOKEN"]
HEARD = "dormouse://dormouse/heard"


def over_http(url):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return streamable_http_client(f"{url}/mcp", http_client=httpx2.AsyncClient(headers=headers, timeout=60))


def over_stdio(url, program):
    environment = {"PATH": "/usr/bin:/bin", "DORMOUSE_TOKEN": TOKEN}
    return StdioServerParameters(command=program, args=["mcp", "--url", url], env=environment)


async def visit(server, transport, mode):
    notified = asyncio.Queue()

    async def take(message):
        # Older generations are notified on a stream of their session, which the SDK reads by itself.
        if isinstance(message, ResourceUpdatedNotification):
            await notified.put(str(message.params.uri))

    async with Client(server, mode=mode, message_handler=take) as agent:
        tools = [tool.name for tool in (await agent.list_tools()).tools]
        words = f"Hello from Python over {transport}, {mode}."
        reports = []

        async def note(progress, total, message):
            reports.append(message)

        said = {"words": words, "key": f"python-{transport}-{mode}"}
        first = await agent.call_tool("talk", said, progress_callback=note)
        again = await agent.call_tool("talk", said)
        resources = [str(it.uri) for it in (await agent.list_resources()).resources]
        read = await agent.read_resource(HEARD)
        prompts = [it.name for it in (await agent.list_prompts()).prompts]
        text = await agent.get_prompt("ask", {"question": "Is there tea?"})
        wrong = await agent.call_tool("talk", {"words": ""})
        updated = None
        if agent.protocol_version >= "2026-07-28":
            async with agent.listen(resource_subscriptions=[HEARD]) as news:
                await agent.call_tool("talk", {"words": words})
                async for event in news:
                    updated = str(event.uri)
                    break
        else:
            await agent.subscribe_resource(HEARD)
            await agent.call_tool("talk", {"words": words})
            updated = await asyncio.wait_for(notified.get(), 60)
            await agent.unsubscribe_resource(HEARD)
        return {
            "sdk": "python",
            "transport": transport,
            "mode": mode,
            "version": agent.protocol_version,
            "tools": tools,
            "first": first.structured_content,
            "text": first.content[0].text,
            "again": again.structured_content,
            "reports": reports,
            "resources": resources,
            "heard": json.loads(read.contents[0].text)["said"][-1]["words"],
            "prompts": prompts,
            "prompt": text.messages[0].content.text,
            "refused": wrong.is_error,
            "updated": updated,
        }


async def main(url, program):
    for mode in ["legacy", "auto", "2026-07-28"]:
        print(json.dumps(await visit(over_http(url), "http", mode)), flush=True)
        print(json.dumps(await visit(over_stdio(url, program), "stdio", mode)), flush=True)


asyncio.run(main(*sys.argv[1:]))
