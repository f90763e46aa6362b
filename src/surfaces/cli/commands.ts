/** The commands: names, arguments, options. What each does is loaded when it is called. */
import { Command, InvalidArgumentError } from "commander";
import { packageVersion } from "../../system/locate.js";
import type { Io } from "../io.js";
import type { Invocation, Report } from "./invocation.js";

type Handler = (invocation: Invocation) => Promise<Report>;

/** `finish` is told the exit code. */
export function createProgram(io: Io, finish: (code: number) => void): Command {
  const program = new Command("pawl")
    .description("The orchestrator that coding agents cannot talk their way past.")
    .usage("[command] [options]    (without a command: the REPL)")
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: () => undefined })
    .showSuggestionAfterError(true)
    .helpCommand(true)
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 refused, 2 usage, 3 invalid on disk, 4 failed to run, 10 a human is needed, 130 interrupted",
    );

  const command = (
    definition: string,
    description: string,
    load: () => Promise<Handler>,
    parent: Command = program,
  ): Command => {
    const [name = "", ...args] = definition.split(" ");
    const added = parent.command(name).description(description);
    for (const argument of args) added.argument(argument);
    return added
      .option("--json", "print one JSON document")
      .option("-C, --dir <directory>", "the workspace, instead of this directory")
      .exitOverride()
      .configureOutput({ writeOut: io.out, writeErr: () => undefined })
      .action(async (...given: unknown[]) => {
        const self = given.pop() as Command;
        const options = given.pop() as Record<string, unknown>;
        const { invoke } = await import("./invocation.js");
        finish(
          await invoke(
            io,
            given.flat() as (string | undefined)[],
            { ...self.parent?.opts(), ...options },
            await load(),
          ),
        );
      });
  };
  const handler =
    <K extends string>(load: () => Promise<Record<K, Handler>>, name: K) =>
    async (): Promise<Handler> =>
      (await load())[name];

  const stepping = (): Promise<typeof import("./step-commands.js")> => import("./step-commands.js");
  const looking = (): Promise<typeof import("./look-commands.js")> => import("./look-commands.js");
  const humans = (): Promise<typeof import("./human-commands.js")> => import("./human-commands.js");
  const setUp = (): Promise<typeof import("./setup-commands.js")> => import("./setup-commands.js");
  const spec = (): Promise<typeof import("./spec-commands.js")> => import("./spec-commands.js");
  const asking = (): Promise<typeof import("./task-commands.js")> => import("./task-commands.js");

  command(
    "repl [task]",
    "step through a task; the same commands with a slash",
    async () => (await import("../repl/repl.js")).repl,
  );
  command("new [title]", "make a new task", handler(setUp, "newCommand"))
    .option("--workflow <name>", "the workflow of the task")
    .option("--id <id>", "the task's id, instead of one made from the title")
    .option("--repo <directory>", "the git repository to work on")
    .option("--from <file>", "a Markdown file with the brief");
  command("tasks", "list the tasks", handler(looking, "tasksCommand"));
  command("status [task]", "where a task stands", handler(looking, "statusCommand"));
  command("why [task]", "what blocks each way out", handler(looking, "whyCommand"));
  command("suggest [task]", "what `next` would do", handler(looking, "suggestCommand"));
  command("next [task]", "do the next step", handler(stepping, "nextCommand"))
    .option("--dry-run", "only tell; change nothing")
    .option("--auto", "go on until the end, a human's phase, a refusal or a bound")
    .option("--max-steps <n>", "with --auto: at most so many steps", wholeNumber)
    .option("--override <reason>", "go on although the evidence does not allow it")
    .option("--to <phase>", "with --override: where to");
  command("run <phase> [task]", "do the work of a phase, without the step after it", handler(stepping, "runCommand"));
  command(
    "batch <directory...>",
    "run task directories side by side; resumable",
    async () => (await import("./batch-command.js")).batchCommand,
  )
    .option("--jobs <n>", "how many at the same time", wholeNumber)
    .option("--until <phase>", "a task has arrived when it is there")
    .option("--fail-fast", "stop all when one does not arrive")
    .option("--budget-time <duration>", "stop after this time, such as 90s, 20m, 2h", duration)
    .option("--budget-runs <n>", "at most so many runs of agents", wholeNumber)
    .option("--report <file>", "write the results as JSON")
    .option("--junit <file>", "write the results as JUnit XML");
  command("record [task]", "make a rehearsal of what the agents did", handler(setUp, "recordCommand")).option(
    "--to <directory>",
    "where to, such as tasks/<new id>",
  );
  command("redo <phase> [task]", "go back to a phase", handler(humans, "redoCommand")).option("--reason <text>", "why");
  command(
    "override <phase> [task]",
    "go to a phase whatever the evidence says",
    handler(humans, "overrideCommand"),
  ).option("--reason <text>", "why");
  command("form [task]", "do the phase's work yourself, as a form in the terminal", handler(humans, "formCommand"));
  command(
    "answer <choice> [task]",
    "answer what a phase asks; @FILE is the whole artifact",
    handler(humans, "answerCommand"),
  )
    .option("--note <text>", "why")
    .option("--to <phase>", "with a rejection: where to go back to");
  command("resume [task]", "let a task that waits go on", handler(humans, "resumeCommand")).option(
    "--note <text>",
    "what to do differently",
  );
  command("history [task]", "every event of a task", handler(looking, "historyCommand"));
  command("transcript [task]", "what was said and run", handler(looking, "transcriptCommand"));
  command("log [task]", "what the newest run printed", handler(looking, "logCommand"))
    .option("--phase <phase>", "of this phase, instead of the current one")
    .option("--run <n>", "of this run, instead of the newest", wholeNumber)
    .option("--follow", "go on with what it prints, until it ends");
  command(
    "watch [task]",
    "a live board of the tasks; looks after their agents",
    async () => (await import("./watch-command.js")).watchCommand,
  )
    .option("--once", "one look, and what follows from it")
    .option("--interval <duration>", "how often to look, such as 2s", duration);
  command(
    "attach [task]",
    "go into an agent's terminal; Ctrl-] comes out again",
    async () => (await import("./attach-command.js")).attachCommand,
  );
  command(
    "verify [task]",
    "check the records against each other and the spec",
    handler(looking, "verifyCommand"),
  ).option("--adopt <reason>", "take over a state file that disagrees with its history");
  command(
    "tool <name>",
    "an agent's tool: get_task, submit_work, …; one JSON object on standard input",
    async () => (await import("./tool-command.js")).toolCommand,
  ).option("--task <task>", "for this task, instead of the work in this directory");
  command(
    "mcp",
    "an agent's tools over MCP, on standard input and output",
    async () => (await import("../mcp/mcp-command.js")).mcpCommand,
  ).option("--task <task>", "for this task, instead of the work in this directory");
  command(
    "worktrees",
    "the tasks' worktrees: what each holds, its size, whose it is",
    async () => (await import("./worktrees-command.js")).worktreesCommand,
  ).option("--gc", "remove those of tasks that are over; what is nowhere else is kept in a bundle");
  command("init", "make a workspace here", handler(setUp, "initCommand"));
  command("doctor", "check the machine and the workspace", handler(setUp, "doctorCommand"));
  command(
    "demo",
    "show it all on a sample task, with the built-in rehearsal agent",
    handler(setUp, "demoCommand"),
  ).option("--keep", "keep the demo's directory");

  const tasks = program.command("task").description("ask for the next status of a task").exitOverride();
  tasks.configureOutput({ writeOut: io.out, writeErr: () => undefined });
  command("update [task]", "ask for a status; the table says whether", handler(asking, "updateCommand"), tasks)
    .option("--status <status>", "the status that is asked for")
    .option("--summary <text>", "what the task is about, in one line")
    .option("--reason <text>", "why")
    .option("--delete-branch", "with a task that is cancelled: remove its branch too; its commits are kept");
  command("complete [task]", "hand over what the phase leaves", handler(asking, "completeCommand"), tasks);

  const specs = program.command("spec").description("the workflow documents").exitOverride();
  specs.configureOutput({ writeOut: io.out, writeErr: () => undefined });
  command("list", "the workflows there are", handler(spec, "listCommand"), specs);
  command("check [workflow]", "prove what can be proved of a document", handler(spec, "checkCommand"), specs).option(
    "--fix",
    "rewrite the diagram from the table",
  );
  command("show <workflow>", "the document; with --json, what was parsed", handler(spec, "showCommand"), specs);
  command("graph [workflow]", "the document as a graph", handler(spec, "graphCommand"), specs)
    .option("--format <format>", "mermaid, dot, svg or xstate", "mermaid")
    .option("--task <task>", "mark the phase of this task");
  return program.version(packageVersion(), "-V, --version");
}

function duration(text: string): string {
  if (/^[1-9][0-9]*(ms|s|m|h)$/.test(text)) return text;
  throw new InvalidArgumentError("expected a duration such as 90s, 20m or 2h");
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("expected a whole number above 0");
}
