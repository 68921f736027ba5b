// A visitor on the TypeScript SDK of the Model Context Protocol: `visitor.mjs PACKAGES URL PROGRAM` prints what it was answered,
// as JSON.

import { createRequire } from "node:module";

const [packages, url, program] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const TOKEN = process.env.DORMOUSE_TOKEN;
const HEARD = "dormouse://dormouse/heard";

const transports = {
  http: () =>
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
    }),
  stdio: () =>
    new StdioClientTransport({
      command: program,
      args: ["mcp", "--url", url],
      env: { PATH: "/usr/bin:/bin", DORMOUSE_TOKEN: TOKEN },
    }),
};

async function visit(transport, mode) {
  const chosen = mode === "2026-07-28" ? { pin: mode } : mode;
  const options = { versionNegotiation: { mode: chosen } };
  const agent = new Client({ name: "visitor", version: "1" }, options);
  await agent.connect(transports[transport]());
  const tools = (await agent.listTools()).tools.map((tool) => tool.name);
  const words = `Hello from TypeScript over ${transport}, ${mode}.`;
  const said = { name: "talk", arguments: { words, key: `node-${transport}-${mode}` } };
  const reports = [];
  const first = await agent.callTool(said, { onprogress: (it) => reports.push(it.message) });
  const again = await agent.callTool(said);
  const resources = (await agent.listResources()).resources.map((it) => it.uri);
  const read = await agent.readResource({ uri: HEARD });
  const prompts = (await agent.listPrompts()).prompts.map((it) => it.name);
  const asked = { name: "ask", arguments: { question: "Is there tea?" } };
  const prompt = await agent.getPrompt(asked);
  const wrong = await agent.callTool({ name: "talk", arguments: { words: "" } });
  const version = agent.getNegotiatedProtocolVersion();
  const news = new Promise((resolve) => {
    agent.setNotificationHandler("notifications/resources/updated", (it) => resolve(it.params.uri));
  });
  // Older generations are notified on a stream of their session, which the SDK reads by itself.
  const isNew = version >= "2026-07-28";
  const subscription = isNew
    ? await agent.listen({ resourceSubscriptions: [HEARD] })
    : await agent.subscribeResource({ uri: HEARD });
  await agent.callTool({ name: "talk", arguments: { words } });
  const updated = await news;
  if (isNew) await subscription.close();
  await agent.close();
  return {
    sdk: "typescript",
    transport,
    mode,
    version,
    tools,
    first: first.structuredContent,
    text: first.content[0].text,
    again: again.structuredContent,
    reports,
    resources,
    heard: JSON.parse(read.contents[0].text).said.at(-1).words,
    prompts,
    prompt: prompt.messages[0].content.text,
    refused: wrong.isError === true,
    updated,
  };
}

for (const mode of ["legacy", "auto", "2026-07-28"]) {
  for (const transport of ["http", "stdio"]) {
    console.log(JSON.stringify(await visit(transport, mode)));
  }
}
