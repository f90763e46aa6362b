/** How each agent lets its model touch the world: the tools that it offers, under one name each. */
import type { Move } from "./conversation.js";

export interface Hands {
  shell(command: string): Move;
  /** A new file. */
  write(path: string, content: string): Move;
  /** A change of a file that is there; some agents want it read first. */
  edit(path: string, old: string, fresh: string): Move[];
}

export const geminiHands: Hands = {
  shell: (command) => call("run_shell_command", { command, description: "look" }),
  write: (path, content) => call("write_file", { file_path: path, content }),
  edit: (path, old, fresh) => [
    call("read_file", { file_path: path }),
    call("replace", { file_path: path, instruction: "mend it", old_string: old, new_string: fresh }),
  ],
};

export const opencodeHands: Hands = {
  shell: (command) => call("bash", { command, description: "look" }),
  write: (path, content) => call("write", { filePath: path, content }),
  edit: (path, old, fresh) => [
    call("read", { filePath: path }),
    call("edit", { filePath: path, oldString: old, newString: fresh }),
  ],
};

export const codexHands: Hands = {
  shell: (command) => call("exec_command", { cmd: command }),
  write: (path, content) =>
    call("exec_command", { cmd: `mkdir -p "$(dirname '${path}')" && cat > '${path}' <<'EOF'\n${content}EOF` }),
  edit: (path, old, fresh) => [
    call("exec_command", {
      cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ${path}\n@@\n${marked("-", old)}${marked("+", fresh)}*** End Patch\nEOF`,
    }),
  ],
};

function call(tool: string, input: Record<string, unknown>): Move {
  return { kind: "call", tool, input };
}

function marked(mark: string, text: string): string {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => `${mark}${line}\n`)
    .join("");
}
