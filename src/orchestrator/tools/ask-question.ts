/** `ask_question`: the question is left where the phase looks for it. Whoever works by a run of pawl's ends with it. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { refused } from "../../errors.js";
import { writeFileDurably } from "../../task/atomic-file.js";
import { actorOf } from "../../task/state.js";
import { loadTask } from "../../task/store.js";
import { ASK, hasEvent } from "../../workflow/exits.js";
import { advance } from "../advance.js";
import { formatArtifact, inTaskDirectory } from "../artifacts.js";
import type { TaskContext } from "../context.js";
import { phaseOf } from "../suggest.js";
import type { ToolAnswer } from "./types.js";

const QUESTION = "question";

export async function askQuestion(context: TaskContext, input: unknown): Promise<ToolAnswer> {
  const { state } = loadTask(context.dir, context.workflow);
  const phase = phaseOf(context.workflow, state.phase);
  const artifact = context.workflow.artifacts.find(({ name }) => name === QUESTION && phase.mayLeave.includes(name));
  if (artifact === undefined || !hasEvent(context.workflow, phase.name, ASK))
    throw refused(`nobody is asked in ${phase.name} of ${context.id}`, { hint: "call get_task, and go on as it says" });
  const path = inTaskDirectory(context, artifact.file);
  mkdirSync(dirname(path), { recursive: true });
  await writeFileDurably(path, formatArtifact(input));
  const answer = (text: string, status: string): ToolAnswer => ({
    text,
    isError: false,
    exitCode: 0,
    json: { status, task: context.id, phase: phase.name, instruction: text },
  });
  if (actorOf(state, phase.name).run !== undefined)
    return answer("Your question is kept.\n\nNext: stop now; you are started again with the answer.", "ASKED");
  const { from, to } = await advance(context);
  return answer(
    `${from} → ${to}: a human is asked.\n\nNext: stop; call \`get_task\` when you are told to go on.`,
    "ASKED",
  );
}
