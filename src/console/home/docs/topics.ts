import type { ProtocolEndpoint } from '../endpoints.js';

/** A page of the docs. */
export interface Topic {
  /** Below `/docs/`; empty for the first page. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
  /** Template in views/. */
  readonly view: string;
  /** Of the index. */
  readonly group: 'Start' | 'Endpoints' | 'Guides';
  /** Paths of the operations on the page start with one of these. */
  readonly paths?: readonly string[];
}

export const addressOfTopic = (name: string): string => (name === '' ? '/docs' : `/docs/${name}`);

const START: readonly Topic[] = [
  {
    name: '',
    title: 'Quick start',
    text: 'Make your first call in four steps. Snippets use your server’s address and one of its models.',
    view: 'docs/quick-start',
    group: 'Start',
  },
  {
    name: 'clients',
    title: 'Clients',
    text: 'Base URLs, SDKs and agents. Snippets read the key from SWITCHBOARD_API_KEY.',
    view: 'docs/clients',
    group: 'Start',
  },
];

const INFORMATION: readonly Topic[] = [
  {
    name: 'models',
    title: 'Models',
    text: 'List the models that a key may use.',
    view: 'docs/endpoints',
    group: 'Endpoints',
    paths: ['/v1/models'],
  },
  {
    name: 'usage',
    title: 'Key and call details',
    text: 'Read what is left of a key, and what a call cost.',
    view: 'docs/endpoints',
    group: 'Endpoints',
    paths: ['/v1/key', '/v1/generations'],
  },
];

const GUIDES: readonly Topic[] = [
  {
    name: 'streaming',
    title: 'Streaming',
    text: 'Receive a response as server-sent events while it is generated.',
    view: 'docs/streaming',
    group: 'Guides',
  },
  {
    name: 'tools',
    title: 'Tools and JSON output',
    text: 'Let models call your functions, and get JSON that matches a schema.',
    view: 'docs/tools',
    group: 'Guides',
  },
  {
    name: 'translation',
    title: 'Translation',
    text: 'Every client can use every model, whichever protocol the model’s vendor uses.',
    view: 'docs/translation',
    group: 'Guides',
  },
  {
    name: 'errors',
    title: 'Errors',
    text: 'Errors use the format of your client’s protocol. Messages end with the request ID.',
    view: 'docs/errors',
    group: 'Guides',
  },
  {
    name: 'limits',
    title: 'Limits and headers',
    text: 'Limits on requests, rate limits, and the headers of responses.',
    view: 'docs/limits',
    group: 'Guides',
  },
  {
    name: 'cost',
    title: 'Cost and prices',
    text: 'When a call starts, its maximum cost is put on hold. When it ends, the exact amount is charged.',
    view: 'docs/cost',
    group: 'Guides',
  },
];

/** All pages, in the order of the index: one for each protocol among them. */
export const topicsFor = (protocols: readonly ProtocolEndpoint[]): readonly Topic[] => [
  ...START,
  ...protocols.map(({ id, name, fullName, path }): Topic => {
    return {
      name: id,
      title: name,
      text: `Calls in ${fullName}.`,
      view: 'docs/endpoints',
      group: 'Endpoints',
      // With the model in the path, everything that is addressed through it; conversations are part of Responses.
      paths: [path.replace(/\/\{.*$/, ''), ...(id === 'responses' ? ['/v1/conversations'] : [])],
    };
  }),
  ...INFORMATION,
  ...GUIDES,
];
