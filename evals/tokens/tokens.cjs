// Counts tokens (o200k) of seven answers, as text and as JSON, and of
// tools/list, over one session with the server. Fails above the budgets.
//
//	node tokens.cjs SERVER TREE
"use strict";
const { spawn } = require("node:child_process");
const readline = require("node:readline");
const { encode } = require("gpt-tokenizer/encoding/o200k_base");

const TEXT_BUDGET = 7000; // the seven answers together
const SAVING = 0.2; // text against our own JSON
const LIST_BUDGET = 3500;
const QUESTIONS = [
  ["find_definition", { symbol: "kmap" }],
  ["find_definition", { symbol: "vfs_read" }],
  ["find_callers", { symbol: "ext4_mark_inode_dirty" }],
  ["find_references", { symbol: "tcp_v4_rcv" }],
  ["get_symbol_body", { symbol: "tcp_v4_rcv" }],
  ["find_callees", { symbol: "tcp_v4_rcv" }],
  ["list_file_symbols", { file_path: "fs/read_write.c" }],
];

class Session {
  constructor(server, root) {
    this.process = spawn(server, ["serve", "--root", root], { stdio: ["pipe", "pipe", "inherit"] });
    this.waiting = new Map();
    this.next = 0;
    readline.createInterface({ input: this.process.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      const wait = this.waiting.get(message.id);
      if (!wait) return; // a notification
      this.waiting.delete(message.id);
      message.error ? wait.reject(new Error(JSON.stringify(message.error))) : wait.resolve(message.result);
    });
    this.process.on("exit", (code) => {
      for (const wait of this.waiting.values()) wait.reject(new Error(`the server ended with code ${code}`));
    });
  }
  send(message) {
    this.process.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }
  request(method, params) {
    const id = ++this.next;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
  async open() {
    const clientInfo = { name: "tokens", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.send({ method: "notifications/initialized" });
  }
  // call asks again while the index is being built; an error is no answer.
  async call(name, args) {
    for (;;) {
      const result = await this.request("tools/call", { name, arguments: args });
      const text = result.content.map((part) => part.text).join("");
      if (!result.isError) return text;
      if (!/retry/i.test(text)) throw new Error(`${name}: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

async function main([server, root]) {
  if (!root) throw new Error("usage: node tokens.cjs SERVER TREE");
  const session = new Session(server, root);
  const row = (name, text, json) => console.log(`${name.padEnd(46)} ${String(text).padStart(6)} ${String(json).padStart(6)}`);
  try {
    await session.open();
    row("question", "text", "json");
    let text = 0, json = 0;
    for (const [tool, args] of QUESTIONS) {
      const t = encode(await session.call(tool, args)).length;
      const j = encode(await session.call(tool, { ...args, format: "json" })).length;
      row(`${tool}(${Object.values(args)})`, t, j);
      text += t;
      json += j;
    }
    const { tools } = await session.request("tools/list", {});
    const list = encode(JSON.stringify(tools)).length;
    const saving = 1 - text / json;
    row("all seven", text, json);
    console.log(`text below JSON: ${(100 * saving).toFixed(1)} %`);
    console.log(`tools/list: ${list} for ${tools.length} tools`);
    const failures = [];
    if (text > TEXT_BUDGET) failures.push(`text costs ${text}, more than ${TEXT_BUDGET}`);
    if (saving < SAVING) failures.push(`text is ${(100 * saving).toFixed(1)} % below JSON, less than ${100 * SAVING} %`);
    if (list > LIST_BUDGET) failures.push(`tools/list costs ${list}, more than ${LIST_BUDGET}`);
    for (const failure of failures) console.error("FAIL: " + failure);
    process.exitCode = failures.length > 0 ? 1 : 0;
  } finally {
    session.process.stdin.end();
  }
}

main(process.argv.slice(2)).catch((err) => {
  console.error("tokens: " + err.message);
  process.exitCode = 1;
});
