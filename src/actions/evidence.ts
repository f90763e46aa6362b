/** What the actions read out of the artifacts. The schemas have checked them; what is not of the form is not there. */
import { objectOf } from "./git-record.js";
import type { ArtifactStatus } from "../workflow/types.js";

export interface AcceptedChange {
  base: string;
  head: string;
  tree: string;
}

type Artifacts = Readonly<Record<string, ArtifactStatus>>;

export function changeOf(data: unknown): AcceptedChange | null {
  const { base, head, tree } = objectOf(data);
  if (typeof base !== "string" || typeof head !== "string" || typeof tree !== "string") return null;
  return { base, head, tree };
}

export function acceptedChange(artifacts: Artifacts): AcceptedChange | null {
  return changeOf(artifacts["change"]?.data);
}

export interface PlannedFile {
  path: string;
  intent: unknown;
}

/** The files that the plan names; null when a human waived the plan, so that there is none to keep to. */
export function plannedFiles(artifacts: Artifacts): PlannedFile[] | null {
  const plan = artifacts["plan"];
  if (plan?.condition === "waived") return null;
  const files = objectOf(plan?.data)["files"];
  if (!Array.isArray(files)) return [];
  return files.flatMap((file) => {
    const { path, intent } = objectOf(file);
    return typeof path === "string" ? [{ path, intent }] : [];
  });
}
