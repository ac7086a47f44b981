/**
 * Transcripts from a vendor's documentation with their meaning, see `README.md`. Each half has a folder with
 * `requests/` and `answers/`, where every `<case>.json` or `<case>.sse` has a `<case>.means.json`.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/platform/shared/index.js';
import {
  type CallContent,
  type CallResult,
  NO_TOKENS,
  RawJson,
  type TokenUsage,
  type Tool,
} from '../../src/protocols/contract/index.js';
import { readEvents } from '../support/stream-text.js';
import { aContent } from '../support/translations.js';
import type { Check } from './abilities.js';

export interface Fixture {
  readonly name: string;
  /** File contents; with the request, if there is one. */
  readonly wire: string;
  readonly meaning: JsonObject;
  readonly request: string | undefined;
  readonly isStream: boolean;
}

const MEANS = '.means.json';
const REQUEST = '.request.json';

/** A check per transcript. Files without counterpart fail. */
export function fixtureChecks(folder: string, say: string, run: (fixture: Fixture) => void): Check[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).toSorted();
  const cases = new Set(files.map(caseOf));
  return [...cases].flatMap((name): Check[] => {
    const wires = files.filter((file) => file === `${name}.json` || file === `${name}.sse`);
    if (wires.length === 0 || !files.includes(name + MEANS)) return [lonely(folder, name)];
    return wires.map((file) => ({ name: `${say}: ${file}`, run: () => run(fixtureIn(folder, name, file)) }));
  });
}

const caseOf = (file: string): string => file.replace(/(?:\.means|\.request)?\.(?:json|sse)$/, '');

const lonely = (folder: string, name: string): Check => ({
  name: `${name} has a transcript and its meaning`,
  run() {
    throw new Error(`${folder} needs ${name}${MEANS} and one of ${name}.json and ${name}.sse.`);
  },
});

function fixtureIn(folder: string, name: string, file: string): Fixture {
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  return {
    name,
    wire: read(file),
    meaning: JSON.parse(read(name + MEANS)) as JsonObject,
    request: existsSync(join(folder, name + REQUEST)) ? read(name + REQUEST) : undefined,
    isStream: file.endsWith('.sse'),
  };
}

/** Missing counts are 0. */
export function resultMeant({ usage, ...result }: JsonObject): CallResult {
  const counted = usage === undefined ? undefined : { ...NO_TOKENS, ...(usage as Partial<TokenUsage>) };
  return { sequence: undefined, ...(result as unknown as CallResult), usage: counted };
}

/** Without optional members of a fixture. */
export function withoutNames({ usage, ...result }: CallResult, meant: CallResult): CallResult {
  const { responseId, serviceTier, ...counts } = usage ?? NO_TOKENS;
  const named = {
    ...(meant.usage?.responseId !== undefined && { responseId }),
    ...(meant.usage?.serviceTier !== undefined && { serviceTier }),
  };
  return { ...result, usage: usage && ({ ...counts, ...named } as TokenUsage) };
}

/** Missing members have defaults. */
export function contentMeant(meaning: JsonObject): CallContent {
  const { tools = [], format, ...content } = meaning as Partial<CallContent>;
  return aContent({
    ...content,
    tools: tools.map((tool, index): Tool => ({ ...tool, path: `tools[${index}]`, schema: rawOf(tool.schema) })),
    ...(format && { format: format.kind === 'schema' ? { ...format, schema: rawOf(format.schema)! } : format }),
  });
}

const rawOf = (value: unknown): RawJson | undefined =>
  value === undefined ? undefined : new RawJson(JSON.stringify(value));

/** Schemas and arguments as JSON, without undefined members. */
export const meaningOf = ({ tools, ...content }: CallContent): unknown =>
  withArgumentsRead({ ...content, tools: tools.map((tool) => ({ ...tool, path: undefined })) });

/** White space in arguments does not matter. */
export const withArgumentsRead = (value: object): unknown =>
  JSON.parse(JSON.stringify(value), function (this: JsonObject, name, member: unknown) {
    const isRead = name === 'arguments' && typeof member === 'string' && this['isFreeform'] !== true;
    return isRead ? jsonOrText(member) : member;
  });

/** A limit may have truncated it. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Matches IDs and times made by the relay. */
const ANY = '<any>';

/** Replaces `<any>` by a matcher. */
export function pattern(value: unknown): unknown {
  if (value === ANY) return expect.anything();
  if (Array.isArray(value)) return value.map(pattern);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, pattern(member)]));
}

/** Name and data of each event. */
export const eventsIn = (stream: string): unknown[] =>
  readEvents(stream).map(({ event, data }) => ({
    event,
    data: data.startsWith('{') ? (JSON.parse(data) as unknown) : data,
  }));
