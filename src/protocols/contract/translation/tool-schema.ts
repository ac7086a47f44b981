import { isJsonObject } from '../../../platform/shared/index.js';
import type { OutputFormat, Tool } from './content.js';
import { isTreeObject, type JsonTree, parseJsonTree, RawJson, type TreeObject, writeJson } from './json-tree.js';

// Adapts tool schemas to upstreams. Only the root is changed; everything below stays as written, including key order,
// because prompts are cached by text.

const NO_ARGUMENTS = new RawJson('{"type":"object","properties":{}}');
/** Keeps everything below the root as text. */
const EVERY_NAME = { has: () => true };
/** Document-level members that some upstreams reject. */
const DOCUMENT_MEMBERS = ['$schema', '$id'];
const COMBINATORS = ['allOf', 'anyOf', 'oneOf'];

/** The schema as an object with properties, as every upstream accepts it; unchanged if it already is. */
export function objectSchema(schema: RawJson | undefined): RawJson {
  if (schema === undefined) return NO_ARGUMENTS;
  const { type, properties } = schema.value;
  const isObject = typeof type === 'string' && typeof properties === 'object' && properties !== null;
  if (isObject && !DOCUMENT_MEMBERS.some((name) => name in schema.value)) return schema;
  const root = rootOf(schema);
  const members = Object.entries(root).filter(([name]) => !DOCUMENT_MEMBERS.includes(name));
  // A missing type is inserted first; an existing one keeps its place.
  const typed = typeof type === 'string' ? {} : { type: 'object' };
  const named = properties === undefined || properties === null ? { properties: {} } : {};
  return new RawJson(writeJson({ ...typed, ...Object.fromEntries(members), ...typed, ...named }));
}

interface MergedSchema {
  readonly schema: RawJson;
  /** Constraints that the schema no longer expresses, for the tool's description; undefined: none. */
  readonly note: string | undefined;
}

/**
 * For upstreams that reject `oneOf`, `anyOf` and `allOf` at the root: a schema that accepts at least the same.
 * Undefined if there are none.
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

/** Undefined if both are empty. */
export const describedWith = (description: string | undefined, note: string | undefined): string | undefined =>
  [description, note].filter((text) => text !== undefined).join('\n\n') || undefined;

class SchemaMerger {
  /** Variants of each property across branches, by text. */
  private readonly variants = new Map<string, Map<string, JsonTree>>();
  /** Followed references; they may be cyclic. */
  private readonly followed = new Set<string>();
  /** Referenced definitions by position. */
  private readonly definitions = new Map<string, TreeObject>();

  constructor(private readonly root: TreeObject) {}

  /** Adds a schema and its branches. Returns what every branch requires. */
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

  /** Root properties are final, since branches only narrow them; others accept any branch. */
  properties(): TreeObject {
    const own = rootOf(this.root['properties']);
    const collected = [...this.variants].map(([name, variants]) => [name, anyOf([...variants.values()])] as const);
    return { ...Object.fromEntries(collected), ...own };
  }

  private add(name: string, value: JsonTree): void {
    const variants = this.variants.get(name) ?? new Map<string, JsonTree>();
    this.variants.set(name, variants.set(writeJson(value), value));
  }

  /** Resolves a branch that is a reference `#/$defs/Name`. */
  private resolved(branch: JsonTree): TreeObject {
    const schema = rootOf(branch);
    const reference = schema['$ref'];
    if (typeof reference !== 'string' || this.followed.has(reference)) return schema;
    this.followed.add(reference);
    const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
    return rootOf(this.definitionsIn(place)[name]);
  }

  /** Parsed once, however many references there are. */
  private definitionsIn(place: string): TreeObject {
    const known = this.definitions.get(place) ?? rootOf(this.root[place]);
    this.definitions.set(place, known);
    return known;
  }
}

const anyOf = (variants: readonly JsonTree[]): JsonTree =>
  variants.length === 1 ? (variants[0] ?? null) : { anyOf: variants };

function alternativesOf(root: TreeObject): string | undefined {
  const names = ['anyOf', 'oneOf'].filter((name) => root[name] !== undefined);
  if (names.length === 0) return undefined;
  const variants = names.flatMap((name) => listIn(root[name])).map((branch) => writeJson(branch));
  return `The arguments must also match ${names.includes('oneOf') ? 'exactly' : 'at least'} one of: ${variants.join(' ')}`;
}

const rootOf = (schema: JsonTree | undefined): TreeObject => {
  const tree = schema instanceof RawJson ? parseJsonTree(schema.text, EVERY_NAME) : schema;
  return isTreeObject(tree) ? tree : {};
};

const listIn = (value: JsonTree | undefined): readonly JsonTree[] =>
  Array.isArray(value) ? (value as readonly JsonTree[]) : [];

const stringsIn = (value: JsonTree | undefined): readonly string[] =>
  listIn(value).filter((entry) => typeof entry === 'string');

// Free-form tools in protocols with JSON arguments: the text is the member `input`.

export const FREEFORM_SCHEMA = new RawJson(
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}',
);

export const wrapFreeform = (input: string): string => JSON.stringify({ input });

/** Unchanged if the model did not wrap its text. */
export function unwrapFreeform(text: string): string {
  try {
    const value = JSON.parse(text) as { readonly input?: unknown } | null;
    return typeof value?.input === 'string' ? value.input : text;
  } catch {
    return text;
  }
}

/** Includes the grammar, which the schema cannot express. */
export function describeFreeform({ description, freeform }: Tool): string | undefined {
  const grammar = freeform?.grammar;
  if (grammar === undefined) return description;
  const note = `The input must match this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return describedWith(description, note);
}

/** As an instruction, for models without format support; undefined for text. */
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

export function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
