/** Parts of requests that upstreams of other dialects have no word for, by what becomes of them. */
interface TranslationWarning {
  readonly becomes: string;
  readonly things: readonly string[];
}

/** What a translation loses, in the order of how much it matters. */
export const WARNINGS: readonly TranslationWarning[] = [
  {
    becomes: 'Rejected with 400, naming the field',
    things: [
      'Multiple choices (n), audio output, and audio input that the upstream does not support.',
      'State stored with another vendor: conversation, prompt, files by ID, skills, mcp_servers.',
      'Hosted tools that are the only tool or are required by the call; computer and browser tools.',
      'Images and documents by URL, if the upstream does not fetch them.',
      'temperature, top_p and top_k of Messages with anthropic-version 2026-10-21 or later, as at the vendor.',
    ],
  },
  {
    becomes: 'Removed, listed in x-relay-warnings',
    things: [
      'Other hosted tools. Web search is translated if the upstream has one.',
      'Unsupported sampling options: top_k, logit_bias, penalties, logprobs, also temperature and top_p.',
      'speed, truncation, and service tiers that the upstream does not have.',
    ],
  },
  {
    becomes: 'Changed, listed in x-relay-warnings',
    things: [
      'Temperature, output limit or reasoning effort outside the upstream’s range: the nearest valid value.',
      'Reasoning together with a required tool, if the model does not support both: one of them is dropped.',
      'Grammars of custom tools, and JSON output that the upstream cannot enforce: requested by instruction.',
      'Tool schemas with alternatives at the root: merged into one schema.',
      'Conversations that start with the assistant or lack a tool result: the missing message is inserted.',
      'Assistant prefill: the model may start a new message.',
    ],
  },
  {
    becomes: 'Removed silently',
    things: [
      'Fields that only concern the vendor: seed, metadata, cache hints, client_metadata, beta headers, context_management.',
      'Optional details: image detail, participant names, unsupported verbosity.',
      'Reasoning signed or encrypted by another vendor.',
      'Unknown fields.',
    ],
  },
];
