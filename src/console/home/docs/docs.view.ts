import type { OfferedModel } from '../../../catalog/index.js';
import { pathForModel, type ProtocolId, WARNING_MEANINGS } from '../../../protocols/contract/index.js';
import { clientSnippets, curlCommand, highlighted, jsonText, STORE_KEY } from '../../web/index.js';
import type { ProtocolEndpoint } from '../endpoints.js';
import { ERRORS, WARNINGS } from './errors.js';
import { type ExampleBody, type ExampleEvent, STREAMS, TOOLS } from './examples.js';
import { pathsFor } from './openapi/index.js';
import { type OperationView, referenceView } from './reference.js';
import { addressOfTopic, type Topic, topicsFor } from './topics.js';

export interface DocsInput {
  readonly protocols: readonly ProtocolEndpoint[];
  /** Newest first. */
  readonly models: readonly OfferedModel[];
  readonly base: string;
  readonly maxBodyBytes: number;
}

const MIB = 1024 * 1024;

/** Placeholder for samples while there are no models. */
const ANY_MODEL = { name: 'MODEL', protocols: [], translates: true };

/** Data of all pages. */
export function docsView({ protocols, models, base, maxBodyBytes }: DocsInput) {
  const offered = [...models.map(({ model, ...support }) => ({ name: model.name, ...support })), ANY_MODEL];
  const topics = topicsFor(protocols);
  const tabs = clientSnippets(base, offered);
  const tabsOf = (...labels: string[]) => tabs.filter(({ label }) => labels.includes(label));
  // Examples are of every protocol.
  const example = models.find(({ translates }) => translates) ?? models[0];
  const site = { base, model: example?.model.name ?? ANY_MODEL.name };
  const curl = ({ path }: Pick<ProtocolEndpoint, 'path'>, body: ExampleBody, isStream = false) =>
    highlighted(
      curlCommand(base + pathForModel(path, site.model), { body: jsonText(body(site.model)), isStream }),
      'shell',
    );
  const operations = referenceView(pathsFor(protocols), site);
  const operationsOf = ({ name, paths = [] }: Topic) =>
    operations
      .filter(({ path }) => paths.some((start) => path.startsWith(start)))
      .map((operation) => ({ ...operation, href: `${addressOfTopic(name)}#${operation.id}` }));
  return {
    base,
    storeKey: highlighted(STORE_KEY, 'shell'),
    quickStart: {
      curl: tabsOf('curl'),
      sdks: tabsOf('Python', 'JavaScript', 'Anthropic SDK'),
      agents: tabsOf('Claude Code', 'Codex'),
    },
    addresses: protocols.map((protocol, index) => ({
      ...protocol,
      id: `base-${index}`,
      address: base + protocol.base,
    })),
    maxBody: `${Math.floor((maxBodyBytes / MIB) * 10) / 10} MiB`,
    tabs,
    changes: WARNINGS,
    warnings: Object.entries(WARNING_MEANINGS).map(([code, meaning]) => ({ code, meaning })),
    errors: ERRORS,
    streams: withExamples(protocols, STREAMS).map(([protocol, { path = protocol.path, body, events, end }], index) => ({
      name: protocol.name,
      isOpen: index === 0,
      end,
      request: curl({ path }, body, true),
      events: events.map(eventText).join('\n'),
    })),
    tools: withExamples(protocols, TOOLS).map(([protocol, { offer, response, result, schema }], index) => ({
      name: protocol.name,
      isOpen: index === 0,
      offer: curl(protocol, offer),
      response: highlighted(jsonText(response), 'javascript'),
      result: curl(protocol, result),
      schema: curl(protocol, schema),
    })),
    topics: topics.map((topic) => ({ ...topic, href: addressOfTopic(topic.name), operations: operationsOf(topic) })),
  };
}

export type DocsView = ReturnType<typeof docsView>;
export type TopicView = DocsView['topics'][number];
export type { OperationView };

const withExamples = <Example>(
  protocols: readonly ProtocolEndpoint[],
  examples: Readonly<Partial<Record<ProtocolId, Example>>>,
): readonly (readonly [ProtocolEndpoint, Example])[] =>
  protocols.flatMap((protocol) => {
    const example = examples[protocol.id];
    return example === undefined ? [] : [[protocol, example] as const];
  });

const eventText = ({ event, data }: ExampleEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n`;
