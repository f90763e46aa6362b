/** Ctrl-] leaves an agent's terminal, in whichever way the keyboard was told to send it. */

/** As one byte; and as the two protocols send it that programs switch on to tell all keys apart. */
const CTRL_BRACKET = /\u001d|\u001b\[93;5(?::1)?u|\u001b\[27;5;93~/;

export function splitAtDetach(typed: Buffer): { before: Buffer; detaches: boolean } {
  const found = CTRL_BRACKET.exec(typed.toString("latin1"));
  return found === null
    ? { before: typed, detaches: false }
    : { before: typed.subarray(0, found.index), detaches: true };
}
