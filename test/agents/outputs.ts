/** What the agents print in their headless modes. Those of gemini, codex and opencode were taken from real runs, shortened. */

export const ARTIFACT = '{"ok":true,"decision":"accepted","reasons":["It is right."],"blocking_issues":[]}';

export function fenced(json: string, language = "json"): string {
  return `\`\`\`${language}\n${json}\n\`\`\``;
}

function lines(...events: unknown[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

/** The answers of the model, one for each turn; tools are used in between. */
export type Printer = (...texts: string[]) => string;

export const claude: Printer = (...texts) =>
  lines(
    { type: "system", subtype: "init", cwd: "/tmp/tree", session_id: "s1", tools: ["Bash", "Edit"], model: "m" },
    ...texts.flatMap((text) => [
      { type: "assistant", message: { role: "assistant", content: [{ type: "text", text }] }, session_id: "s1" },
      { type: "user", message: { role: "user", content: [{ type: "tool_result", content: "ok" }] }, session_id: "s1" },
    ]),
    {
      type: "result",
      subtype: "success",
      is_error: false,
      duration_ms: 2400,
      num_turns: texts.length,
      result: texts.at(-1) ?? "",
      session_id: "s1",
      total_cost_usd: 0.0312,
      usage: {
        input_tokens: 12,
        cache_creation_input_tokens: 4000,
        cache_read_input_tokens: 18000,
        output_tokens: 431,
      },
    },
  );

export const gemini: Printer = (...texts) =>
  lines(
    { type: "init", timestamp: "2026-11-18T08:04:21.829Z", session_id: "3165ab60", model: "gemini-2.5-flash" },
    { type: "message", timestamp: "2026-11-18T08:04:21.853Z", role: "user", content: "Review it." },
    ...texts.flatMap((text, index) => [
      ...(index === 0
        ? []
        : [
            { type: "tool_use", tool_name: "run_shell_command", tool_id: "t1", parameters: { command: "git show" } },
            { type: "tool_result", tool_id: "t1", status: "success", output: "" },
          ]),
      // It comes in pieces, cut anywhere.
      { type: "message", role: "assistant", content: text.slice(0, 9), delta: true },
      { type: "message", role: "assistant", content: text.slice(9), delta: true },
    ]),
    {
      type: "result",
      status: "success",
      stats: { total_tokens: 4936, input_tokens: 4800, output_tokens: 136, cached: 0, input: 4800, tool_calls: 3 },
    },
  );

export const codex: Printer = (...texts) =>
  lines(
    { type: "thread.started", thread_id: "01a1edb4" },
    { type: "item.completed", item: { id: "item_0", type: "error", message: "Model metadata not found." } },
    { type: "turn.started" },
    ...texts.flatMap((text, index) => [
      { type: "item.completed", item: { id: `m${index}`, type: "agent_message", text } },
      {
        type: "item.completed",
        item: { id: `c${index}`, type: "command_execution", command: "ls", aggregated_output: "{}", exit_code: 0 },
      },
    ]),
    {
      type: "turn.completed",
      usage: {
        input_tokens: 3600,
        cached_input_tokens: 0,
        cache_write_input_tokens: 0,
        output_tokens: 102,
        reasoning_output_tokens: 0,
      },
    },
  );

export const opencode: Printer = (...texts) =>
  lines(
    ...texts.flatMap((text) => [
      { type: "step_start", sessionID: "ses_e1", part: { type: "step-start" } },
      { type: "text", sessionID: "ses_e1", part: { type: "text", text, time: { start: 1, end: 2 } } },
      {
        type: "step_finish",
        sessionID: "ses_e1",
        part: {
          type: "step-finish",
          reason: "stop",
          tokens: { total: 1284, input: 1200, output: 30, reasoning: 4, cache: { write: 0, read: 50 } },
          cost: 0.1,
        },
      },
    ]),
  );

export const aider: Printer = (...texts) =>
  [
    "Aider v0.86.2",
    "Main model: gpt-4o with diff edit format",
    "Git repo: .git with 5 files",
    "",
    ...texts,
    "",
    "Tokens: 3.3k sent, 1.1k received. Cost: $0.02 message, $0.02 session.",
    "Tokens: 4.1k sent, 212 received. Cost: $0.01 message, $0.03 session.",
    "",
  ].join("\n");

export const PRINTERS: Record<string, Printer> = { claude, gemini, codex, opencode, aider };

/** How each of them says that it failed. */
export const FAILURES: Record<string, string> = {
  claude: lines({
    type: "result",
    subtype: "success",
    is_error: true,
    result: `Credit balance is too low\n${fenced(ARTIFACT)}`,
    total_cost_usd: 0,
    usage: { input_tokens: 0, output_tokens: 0 },
  }),
  gemini: lines(
    { type: "message", role: "assistant", content: fenced(ARTIFACT), delta: true },
    {
      type: "result",
      status: "error",
      error: { type: "unknown", message: "[API Error: no]" },
      stats: { total_tokens: 0, input_tokens: 0, output_tokens: 0 },
    },
  ),
  codex: lines(
    { type: "item.completed", item: { id: "m0", type: "agent_message", text: fenced(ARTIFACT) } },
    { type: "error", message: "no" },
    { type: "turn.failed", error: { message: "no" } },
  ),
  opencode: lines(
    { type: "text", part: { type: "text", text: fenced(ARTIFACT) } },
    { type: "error", sessionID: "ses_e1", error: { name: "APIError", data: { message: "no", statusCode: 400 } } },
  ),
};
