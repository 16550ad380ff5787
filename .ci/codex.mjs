// Asks Codex's app server for its MCP servers and lets it call a tool in a folder:
//   node codex.mjs FOLDER
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const app = spawn("codex", ["app-server"], { stdio: ["pipe", "pipe", "ignore"] });
const waiting = new Map();
let ready;
const started = new Promise((resolve) => { ready = resolve; });
createInterface({ input: app.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method === "mcpServer/startupStatus/updated" && message.params.name === "gtags") {
    const status = message.params.status;
    const state = typeof status === "string" ? status : status.state ?? JSON.stringify(status);
    if (state !== "starting") ready(state);
  }
  if (message.method === undefined) waiting.get(message.id)?.(message);
});
let id = 0;
const ask = (method, params) => new Promise((resolve, reject) => {
  waiting.set(++id, (answer) => (answer.error ? reject(new Error(JSON.stringify(answer.error))) : resolve(answer.result)));
  app.stdin.write(JSON.stringify({ id, method, params }) + "\n");
});

await ask("initialize", { clientInfo: { name: "test", version: "1" } });
app.stdin.write('{"method":"initialized"}\n');
const servers = (await ask("mcpServerStatus/list", {})).data;
const gtags = servers.find((server) => server.name === "gtags");
if (gtags === undefined) {
  console.log("not there:", JSON.stringify(servers.map((server) => server.name)));
  app.kill();
  process.exit(1);
}
const { thread } = await ask("thread/start", { cwd: process.argv[2] });
const state = await started;
const call = await ask("mcpServer/tool/call", {
  threadId: thread.id, server: "gtags", tool: "find_definition", arguments: { symbol: "answer", project_root: process.argv[2] },
});
const place = call.content[0].text.split("\n").find((line) => line.startsWith("a.c:"));
console.log(`${state === "ready" ? "connected" : state}: ${Object.keys(gtags.tools).length} tools; find_definition: ${place}`);
app.kill();
process.exit(0);
