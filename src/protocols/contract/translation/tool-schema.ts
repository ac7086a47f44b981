import { isJsonObject } from '../../../platform/shared/index.js';
import type { OutputFormat, Tool } from './content.js';
import { isTreeObject, type JsonTree, parseJsonTree, RawJson, type TreeObject, writeJson } from './json-tree.js';

// What upstreams ask of the schema of a tool's arguments. Only its root is ever changed; all below stays as it was
// written, key order included, because prompts are cached by their text.

const NO_ARGUMENTS = new RawJson('{"type":"object","properties":{}}');
/** Everything below the root is kept as its text. */
const EVERY_NAME = { has: () => true };
/** Of the document alone; some upstreams refuse them. */
const DOCUMENT_MEMBERS = ['$schema', '$id'];
const COMBINATORS = ['allOf', 'anyOf', 'oneOf'];

/** A schema as every upstream takes it: of an object that has properties; itself when it is one. */
export function objectSchema(schema: RawJson | undefined): RawJson {
  if (schema === undefined) return NO_ARGUMENTS;
  const { type, properties } = schema.value;
  const isObject = typeof type === 'string' && typeof properties === 'object' && properties !== null;
  if (isObject && !DOCUMENT_MEMBERS.some((name) => name in schema.value)) return schema;
  const root = rootOf(schema);
  const kept = Object.entries(root).filter(([name]) => !DOCUMENT_MEMBERS.includes(name));
  // A root without a type gets it in front; one that has it keeps its place.
  const typed = typeof type === 'string' ? {} : { type: 'object' };
  const named = properties === undefined || properties === null ? { properties: {} } : {};
  return new RawJson(writeJson({ ...typed, ...Object.fromEntries(kept), ...typed, ...named }));
}

interface MergedSchema {
  readonly schema: RawJson;
  /** What the schema cannot say any more, for the tool's description; undefined when it still says all. */
  readonly note: string | undefined;
}

/**
 * For upstreams that refuse `oneOf`, `anyOf` and `allOf` at the root: a schema that takes at least what this one takes.
 * Undefined when it has none of them.
 */
export function withoutRootCombinators(schema: RawJson): MergedSchema | undefined {
  if (!COMBINATORS.some((name) => name in schema.value)) return undefined;
  const root = rootOf(schema);
  const merger = new SchemaMerger(root);
  const required = [...merger.collect(root)];
  const { allOf: _all, anyOf: _any, oneOf: _one, properties: _properties, required: _required, ...rest } = root;
  const merged = { ...rest, properties: merger.properties(), ...(required.length > 0 && { required }) };
  return { schema: new RawJson(writeJson(merged)), note: alternativesOf(root) };
}

/** A description and what else has to be said; undefined when there is nothing to say. */
export const describedWith = (description: string | undefined, note: string | undefined): string | undefined =>
  [description, note].filter((text) => text !== undefined).join('\n\n') || undefined;

class SchemaMerger {
  /** Of each property the ways in which branches define it, by their text. */
  private readonly ways = new Map<string, Map<string, JsonTree>>();
  /** Each is followed once: they may run in circles. */
  private readonly followed = new Set<string>();
  /** The definitions that references have named, by where they stand in the root. */
  private readonly definitions = new Map<string, TreeObject>();

  constructor(private readonly root: TreeObject) {}

  /** Takes in a schema and its branches. Returns what every way through it requires. */
  collect(schema: TreeObject): ReadonlySet<string> {
    const required = new Set(stringsIn(schema['required']));
    for (const [name, value = null] of Object.entries(rootOf(schema['properties']))) this.add(name, value);
    for (const combinator of COMBINATORS) {
      const branches = listIn(schema[combinator]).map((branch) => this.collect(this.resolved(branch)));
      const candidates = combinator === 'allOf' ? branches : branches.slice(0, 1);
      for (const name of candidates.flatMap((branch) => [...branch])) {
        if (combinator === 'allOf' || branches.every((branch) => branch.has(name))) required.add(name);
      }
    }
    return required;
  }

  /** The root's own are as they are, since branches only narrow them; others may be what any branch says. */
  properties(): TreeObject {
    const own = rootOf(this.root['properties']);
    const collected = [...this.ways].map(([name, ways]) => [name, anyOf([...ways.values()])] as const);
    return { ...Object.fromEntries(collected), ...own };
  }

  private add(name: string, value: JsonTree): void {
    const ways = this.ways.get(name) ?? new Map<string, JsonTree>();
    this.ways.set(name, ways.set(writeJson(value), value));
  }

  /** What `#/$defs/Name` stands for, where a branch is such a reference. */
  private resolved(branch: JsonTree): TreeObject {
    const schema = rootOf(branch);
    const reference = schema['$ref'];
    if (typeof reference !== 'string' || this.followed.has(reference)) return schema;
    this.followed.add(reference);
    const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
    return rootOf(this.definitionsIn(place)[name]);
  }

  /** Parsed once: there may be as many of them as references. */
  private definitionsIn(place: string): TreeObject {
    const known = this.definitions.get(place) ?? rootOf(this.root[place]);
    this.definitions.set(place, known);
    return known;
  }
}

const anyOf = (ways: readonly JsonTree[]): JsonTree => (ways.length === 1 ? (ways[0] ?? null) : { anyOf: ways });

function alternativesOf(root: TreeObject): string | undefined {
  const names = ['anyOf', 'oneOf'].filter((name) => root[name] !== undefined);
  if (names.length === 0) return undefined;
  const ways = names.flatMap((name) => listIn(root[name])).map((branch) => writeJson(branch));
  return `The arguments must also match ${names.includes('oneOf') ? 'exactly' : 'at least'} one of: ${ways.join(' ')}`;
}

const rootOf = (schema: JsonTree | undefined): TreeObject => {
  const tree = schema instanceof RawJson ? parseJsonTree(schema.text, EVERY_NAME) : schema;
  return isTreeObject(tree) ? tree : {};
};

const listIn = (value: JsonTree | undefined): readonly JsonTree[] =>
  Array.isArray(value) ? (value as readonly JsonTree[]) : [];

const stringsIn = (value: JsonTree | undefined): readonly string[] =>
  listIn(value).filter((entry) => typeof entry === 'string');

// Tools that take any text, for dialects in which every tool takes JSON: the text stands in a member `input`.

export const FREEFORM_SCHEMA = new RawJson(
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}',
);

/** The arguments that such a text makes. */
export const wrapFreeform = (input: string): string => JSON.stringify({ input });

/** The text in such arguments; they themselves when a model has forgotten to wrap it. */
export function unwrapFreeform(text: string): string {
  try {
    const value = JSON.parse(text) as { readonly input?: unknown } | null;
    return typeof value?.input === 'string' ? value.input : text;
  } catch {
    return text;
  }
}

/** The tool's description and the grammar that nothing but the description can tell now. */
export function describeFreeform({ description, freeform }: Tool): string | undefined {
  const grammar = freeform?.grammar;
  if (grammar === undefined) return description;
  const note = `The input must match this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return describedWith(description, note);
}

/** What a format demands as an instruction, for models that can only be asked; undefined for text. */
export function describeFormat(format: OutputFormat): string | undefined {
  switch (format.kind) {
    case 'text':
      return undefined;
    case 'json':
      return 'Respond with a single JSON object and nothing else.';
    case 'schema':
      return `Respond with a single JSON value and nothing else. It must match this JSON schema:\n${format.schema.text}`;
    default:
      return format satisfies never;
  }
}

/** Whether a text is a JSON object: all that many dialects take for the arguments of a call. */
export function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
