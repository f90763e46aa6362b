/** The error of something that must fail. */
import { PawlError } from "../../src/errors.js";

export function thrownBy(work: () => unknown): PawlError {
  try {
    work();
  } catch (error) {
    if (error instanceof PawlError) return error;
    throw error;
  }
  throw new Error("expected an error, found none");
}

export async function errorOf(promise: Promise<unknown>): Promise<PawlError> {
  const error = await promise.then(
    (value) => new Error(`expected an error, found ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof PawlError) return error;
  throw error;
}
