/** Parts of requests that upstreams of other dialects have no word for, by what becomes of them. */
interface Loss {
  readonly becomes: string;
  readonly things: readonly string[];
}

/** What a translation loses, in the order of how much it matters. */
export const LOSSES: readonly Loss[] = [
  {
    becomes: 'Refused: 400, naming the member',
    things: [
      'Several answers to one call (n), answers as sound, and sound that the upstream cannot hear.',
      'What is stored with another vendor: conversation, prompt, files by ID, skills, mcp_servers.',
      'A tool that its vendor runs, where it is the only one or the call insists on it; computer and browser tools.',
      'An image or a document by its address, where the upstream fetches none.',
      'temperature, top_p and top_k of Messages with an anthropic-version of 2026-10-21 or later: the vendor refuses them too.',
    ],
  },
  {
    becomes: 'Left out, and named in x-relay-warnings',
    things: [
      'Other tools that a vendor runs. A search of the web is carried over where the upstream has one.',
      'Sampling that the upstream does not know: top_k, logit_bias, penalties, logprobs, also temperature and top_p.',
      'speed, truncation, and a service tier that is none of its own.',
    ],
  },
  {
    becomes: 'Changed, and named in x-relay-warnings',
    things: [
      'A temperature or a limit of output beyond what the upstream takes, an effort that it does not know: the nearest one.',
      'Thoughts and a tool that the call insists on, where the model cannot have both: one of them gives way.',
      'The grammar of a tool that takes any text, and JSON where the upstream cannot be held to it: asked for in words.',
      'A schema of a tool whose root is a choice of several: one with the members of all.',
      'A conversation that the assistant begins, or that lacks the result of a tool: what is missing is put in.',
      'An answer that the client has begun itself: the model may begin anew.',
    ],
  },
  {
    becomes: 'Left out without a word',
    things: [
      'What only helps the vendor: seed, metadata, hints for caches, client_metadata, beta headers, context_management.',
      'What only adorns: detail of images, names of speakers, verbosity where the upstream does not know it.',
      'Thoughts that another vendor has signed or encrypted: only that one can read them.',
      'Members that are not known here.',
    ],
  },
];
