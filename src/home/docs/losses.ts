/** Something of a request that an upstream of another dialect has no word for, and what becomes of it. */
interface Loss {
  readonly what: string;
  readonly becomes: string;
}

const REFUSED = 'refused: 400, naming the member';
const WARNED = 'x-relay-warnings';
const SILENT = 'left out';

const all = (becomes: string, things: readonly string[]): readonly Loss[] => things.map((what) => ({ what, becomes }));

/** What a translation loses, in the order of how much it matters. */
export const LOSSES: readonly Loss[] = [
  ...all(REFUSED, [
    'Several answers to one call (n), answers as sound, sound in a prompt for Messages',
    'background, and what lies with another vendor: conversation, prompt, files by ID, containers, mcp_servers',
    'A tool that its vendor runs, where the call insists on it; computer and browser tools',
  ]),
  ...all(`left out, and named in ${WARNED}`, [
    'Other tools that a vendor runs; a search of the web is carried over where the upstream has one',
    'top_k, logit_bias, penalties, logprobs',
    'speed, truncation, and a service tier that is no tier of the upstream',
  ]),
  ...all(`changed, and named in ${WARNED}`, [
    'A temperature or a limit of output beyond what the upstream takes: the nearest one',
    'An effort that the model does not know: the nearest one. Where thoughts would stand in the way of a tool that the call insists on, there are none',
    'The grammar of a tool that takes any text, and JSON without a schema: asked for in words',
    'A schema whose root is a choice of several: one with the members of all',
    'A conversation that the assistant began or ended, or that lacks the result of a tool: what is missing is put in',
  ]),
  ...all(SILENT, [
    'What only helps the vendor: seed, metadata, hints for caches, client_metadata, beta headers, context_management',
    'What only adorns: detail of images, names of speakers, verbosity for Messages',
    'Thoughts that another vendor has sealed: only whoever made them can read them',
    'Members that no dialect knows',
  ]),
];
