/** The real agents: what to install, what they speak, and the files by which each is told of the model on loopback. */
import type { Wire } from "./conversation.js";
import { gemini } from "./gemini-api.js";
import { codexHands, geminiHands, opencodeHands, type Hands } from "./hands.js";
import { openAiChat } from "./openai-chat.js";
import { openAiResponses } from "./openai-responses.js";

export interface RealAgent {
  /** Of its preset, too. */
  name: string;
  packageName: string;
  version: string;
  wire: Wire;
  hands: Hands;
  /** Files in its home directory. */
  home(url: string): Record<string, string>;
  env(url: string): Record<string, string>;
}

const KEY = "a-dummy-key-for-loopback";

export const AGENTS: RealAgent[] = [
  {
    name: "gemini",
    packageName: "@google/gemini-cli",
    version: "0.61.0",
    wire: gemini,
    hands: geminiHands,
    home: () => ({
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        // With `auto` another model is asked first which model to ask.
        model: { name: "gemini-2.5-flash" },
        privacy: { usageStatisticsEnabled: false },
      }),
    }),
    env: (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url }),
  },
  {
    name: "codex",
    packageName: "@openai/codex",
    version: "0.169.0",
    wire: openAiResponses,
    hands: codexHands,
    home: (url) => ({
      ".codex/config.toml": [
        'model = "scripted"',
        'model_provider = "loopback"',
        "[model_providers.loopback]",
        'name = "loopback"',
        `base_url = "${url}/v1"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        // The workspace lies below /tmp, which is writable otherwise: only the preset's own permissions are to count.
        "[sandbox_workspace_write]",
        "exclude_slash_tmp = true",
        "exclude_tmpdir_env_var = true",
        "",
      ].join("\n"),
    }),
    env: () => ({ OPENAI_API_KEY: KEY }),
  },
  {
    name: "opencode",
    packageName: "opencode-ai",
    version: "1.18.33",
    wire: openAiChat,
    hands: opencodeHands,
    home: (url) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        model: "loopback/scripted",
        provider: {
          loopback: {
            npm: "@ai-sdk/openai-compatible",
            name: "loopback",
            options: { baseURL: `${url}/v1`, apiKey: "{env:OPENAI_API_KEY}" },
            models: { scripted: { name: "scripted" } },
          },
        },
      }),
    }),
    env: () => ({ OPENAI_API_KEY: KEY }),
  },
];
