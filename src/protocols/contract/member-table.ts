import { AppError, type FieldErrorCode, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { headerOf, type RequestLine } from './call.js';
import type { JsonFields } from './json-fields.js';
import { duplicateMember, type JsonElement, type JsonField, type JsonInterest, jsonInterests } from './json-members.js';
import type { StateMember } from './prompt-content.js';
import { Demands, type RequestDemands, type ScopedKind } from './request-demands.js';

/** Effect of a request member on price, models and upstream state. */
export type MemberRule =
  /** None beyond its tokens. */
  | { readonly is: 'plain' }
  /** Names a speed; `standard` values cost nothing extra. */
  | { readonly is: 'speed'; readonly standard: readonly string[] }
  /** Names an inference region; without it the upstream chooses. */
  | { readonly is: 'geo' }
  /** A prompt cache lifetime; `priced` values have their own price. */
  | { readonly is: 'cache_lifetime'; readonly priced: readonly string[] }
  /** Max uses of all hosted tools. */
  | { readonly is: 'max_tool_calls' }
  /** Models that may serve the request: names, or objects with `model`. */
  | { readonly is: 'alternatives' }
  /** May add model runs. */
  | { readonly is: 'passes'; readonly when: (value: unknown) => boolean }
  /** The list of tools. */
  | { readonly is: 'tools' }
  /** The list of tools, each named by a member: `{ "googleSearch": {} }`. */
  | { readonly is: 'named_tools'; readonly tools: Readonly<Record<string, NamedToolRule>> }
  /** Enables a hosted tool by its presence. */
  | { readonly is: 'hosted_tool'; readonly tool: string }
  /** Refers to upstream state. */
  | { readonly is: 'scoped'; readonly idsIn: (value: unknown) => readonly (readonly [ScopedKind, string])[] }
  /** Not accepted from clients; with `when`, only values for which it is true. */
  | { readonly is: 'refused'; readonly why: string; readonly when?: (value: unknown) => boolean };

/** A hosted tool by the name of its fee, a tool of the client, or one that is not accepted. */
export type NamedToolRule =
  | { readonly runs: 'client' }
  | { readonly runs: 'hosted'; readonly name: string }
  | { readonly runs: 'refused'; readonly why: string };

/** Effect of tools by type; `types` must match the whole type. */
export interface ToolRule {
  readonly types: RegExp;
  /**
   * `client`: run by the client, or only costs tokens. `hosted`: run by the upstream for a fee. `advisor`: names a
   * model.
   */
  readonly runs: 'client' | 'hosted' | 'advisor';
  /** Name of its fee; default: the type. */
  readonly name?: string;
  /** Whether the client runs this hosted tool itself. */
  readonly isClients?: (tool: JsonObject) => boolean;
  /** IDs of upstream state in such a tool. */
  readonly idsIn?: (tool: JsonObject) => readonly (readonly [ScopedKind, string])[];
}

/** Tools that messages or items define, beside those of the request. */
export interface PromptTools {
  /** The member of a message or item that may contain them: `input[].tools`. */
  readonly member: string;
  /** A quick check of its JSON; absent: always. */
  readonly mayBeIn?: (json: string) => boolean;
  readonly toolsIn: (value: unknown) => readonly JsonObject[];
}

/** All members of one vendor's request types. */
export interface MemberTable {
  /** The package and version it was derived from. */
  readonly source: { readonly package: string; readonly version: string };
  /** By path: `speed`, `reasoning.effort`. Members below a `plain` one are plain by default. */
  readonly members: Readonly<Record<string, MemberRule>>;
  readonly tools: readonly ToolRule[];
  readonly promptTools?: PromptTools;
  /** Members that refer to upstream state anywhere in the prompt, by kind. */
  readonly stateMembers: Readonly<Partial<Record<StateMember, ScopedKind | ((id: string) => ScopedKind | undefined)>>>;
  /** `input`, `input_schema` and `input_examples` contain tools' own data without references. */
  readonly hasToolData?: boolean;
  /** Values of the beta header; absent if there is none. */
  readonly betas?: {
    readonly header: string;
    readonly known: ReadonlySet<string>;
    readonly refused: ReadonlySet<string>;
  };
}

export const PLAIN: MemberRule = { is: 'plain' };
export const TOOLS: MemberRule = { is: 'tools' };

/** Several plain members: `plainMembers('a b c')`. */
export const plainMembers = (names: string): Readonly<Record<string, MemberRule>> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, PLAIN]));

export const refusedMember = (why: string): MemberRule => ({ is: 'refused', why });

export const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/** The ID of upstream state, if there is one. */
export const scopedIn = (kind: ScopedKind, id: unknown): readonly (readonly [ScopedKind, string])[] =>
  typeof id === 'string' ? [[kind, id]] : [];

/** State referred to by an ID or by an object with `id`. */
export const scopedMember = (kind: ScopedKind): MemberRule => ({
  is: 'scoped',
  idsIn: (value) => scopedIn(kind, isJsonObject(value) ? value['id'] : value),
});

/** Members that routers add to every protocol: they choose models, providers and features, each at a price. */
export const ROUTER_MEMBERS: Readonly<Record<string, MemberRule>> = {
  models: { is: 'alternatives' },
  plugins: refusedMember('the upstream adds and bills plugins'),
  preset: refusedMember('presets are configured by administrators'),
  provider: refusedMember('administrators choose providers'),
  route: PLAIN,
  transforms: PLAIN,
};

/** Larger lists are not genuine. */
const MAX_ALTERNATIVES = 16;
const MAX_NAME_LENGTH = 256;
const MAX_VALUE_BYTES = 64 * 1024;
/** Tools beyond a name and a schema: hosted, or referring to upstream state. */
const MAX_HOSTED_TOOLS = 64;
const MAX_UNKNOWN_BETAS = 64;
const FREE_FORM = ['metadata', 'client_metadata'];

/** Paths that a head reader needs for applying the table. */
function memberPaths({ members, promptTools }: MemberTable): readonly string[] {
  const names = Object.keys(members);
  const parents = new Set(names.flatMap((name) => (name.includes('.') ? [name.slice(0, name.lastIndexOf('.'))] : [])));
  const watched = [...parents].filter((parent) => !FREE_FORM.includes(parent)).map((parent) => `${parent}.*`);
  const lists = names.flatMap((name) => listPaths(name, members[name] ?? PLAIN));
  return [...names, ...watched, ...lists, ...(promptTools === undefined ? [] : [promptTools.member]), '*'];
}

function listPaths(name: string, rule: MemberRule): readonly string[] {
  const { is } = rule;
  if (is === 'named_tools') return [...Object.keys(rule.tools).map((tool) => `${name}[].${tool}`), `${name}[].*`];
  if (is === 'tools') return [`${name}[].type`, `${name}[].model`];
  return is === 'alternatives' ? [`${name}[].model`] : [];
}

/** Interests of a protocol: its own and those of its table. */
export const interestsOf = (table: MemberTable, ...own: readonly string[]): JsonInterest =>
  jsonInterests(...own, ...memberPaths(table));

/** Applies a table to request heads. One per protocol. */
export class MemberReader {
  /** Non-plain rules by path. */
  private readonly rules: ReadonlyMap<string, MemberRule>;

  constructor(private readonly table: MemberTable) {
    this.rules = new Map(Object.entries(table.members).filter(([, rule]) => rule.is !== 'plain'));
  }

  /**
   * The demand of a request; undefined: none.
   * @throws AppError invalid_request naming a rejected member
   */
  demandsIn(fields: JsonFields, request: RequestLine): RequestDemands | undefined {
    const demands = new Demands(fields);
    for (const [path, { kind }] of fields.present) {
      const rule = kind === 'null' ? undefined : this.rules.get(path);
      if (rule !== undefined) this.apply(path, rule, demands);
    }
    for (const [path, id] of fields.stateIds(this.table.hasToolData !== true)) {
      const rule = this.table.stateMembers[path];
      const kind = typeof rule === 'function' ? rule(id) : rule;
      if (kind !== undefined) demands.scopedIds.push({ kind, id, path });
    }
    if (this.table.promptTools !== undefined) this.readPromptTools(this.table.promptTools, demands);
    for (const other of fields.others) demands.unknown.push(other);
    this.readBetas(request, demands);
    return demands.result();
  }

  private apply(path: string, rule: MemberRule, demands: Demands): void {
    const { fields } = demands;
    switch (rule.is) {
      case 'plain':
        return;
      case 'speed': {
        const value = fields.optionalString(path, { maxLength: MAX_NAME_LENGTH });
        if (value !== undefined && !rule.standard.includes(value)) demands.speed = value;
        return;
      }
      case 'geo':
        demands.geo = fields.optionalString(path, { maxLength: MAX_NAME_LENGTH });
        return;
      case 'cache_lifetime': {
        const value = fields.hint(path);
        if (value !== undefined && rule.priced.includes(value)) demands.cacheLifetime = value;
        return;
      }
      case 'max_tool_calls':
        demands.maxToolCalls = fields.optionalInteger(path, { min: 0 });
        return;
      case 'alternatives':
        return readAlternatives(path, demands);
      case 'passes':
        if (rule.when(small(fields, path))) demands.addsPasses = true;
        return;
      case 'tools':
        return this.readTools(path, demands);
      case 'named_tools':
        return readNamedTools(path, rule.tools, demands);
      case 'hosted_tool':
        demands.createsState = true;
        demands.tools.push({ name: rule.tool, path });
        return;
      case 'scoped':
        demands.createsState = true;
        for (const [kind, id] of rule.idsIn(single(fields, path))) demands.scopedIds.push({ kind, id, path });
        return;
      case 'refused':
        if (rule.when?.(small(fields, path)) === false) return;
        throw fields.refusal(path, 'unsupported_parameter', `not accepted (${rule.why}); remove it`);
      default:
        return rule satisfies never;
    }
  }

  private readTools(path: string, demands: Demands): void {
    const { fields } = demands;
    let read = 0;
    fields.elements(`${path}[]`).forEach((element, index) => {
      const type = stringIn(fields, element, `${path}[].type`);
      if (type === undefined) return;
      const rule = this.table.tools.find(({ types }) => types.test(type));
      if (rule === undefined) return void demands.unknown.push(`${path}[].type=${type.slice(0, 64)}`);
      if (rule.runs === 'client' && rule.idsIn === undefined) return;
      if (++read > MAX_HOSTED_TOOLS) throw tooManyTools(demands, path);
      const own = `${path}[${index}]`;
      const tool = objectIn(fields, element, own);
      if (rule.runs === 'advisor') readAdvisor(tool, element, own, demands);
      readTool(type, tool, rule, own, demands);
    });
  }

  /** @throws AppError invalid_request for a tool that names a model, which must be among the request's tools */
  private readPromptTools({ member, mayBeIn, toolsIn }: PromptTools, demands: Demands): void {
    const { fields } = demands;
    fields.elements(member.slice(0, member.lastIndexOf('.'))).forEach(({ members }, index) => {
      const field = members.get(member);
      if (field?.kind !== 'array' || mayBeIn?.(fields.text(field)) === false) return;
      const path = member.replace('[]', `[${index}]`);
      requireSingle(fields, field, path);
      for (const tool of toolsIn(fields.decoded(field, path))) {
        const { type } = tool;
        if (typeof type !== 'string') continue;
        const rule = this.table.tools.find(({ types }) => types.test(type));
        if (rule === undefined) continue;
        if (rule.runs === 'advisor') throw fields.refusal(path, 'unsupported_parameter', `must not define "${type}"`);
        readTool(type, tool, rule, path, demands);
      }
    });
  }

  private readBetas(request: RequestLine, demands: Demands): void {
    if (this.table.betas === undefined) return;
    const { header, known, refused } = this.table.betas;
    const value = headerOf(request, header);
    if (value === undefined) return;
    const betas = value.split(',').map((name) => name.trim().toLowerCase());
    const beta = betas.find((name) => refused.has(name));
    if (beta !== undefined)
      throw new AppError('invalid_request', `${header}: ${beta} is not accepted; remove it.`, {
        param: header,
        fault: 'unsupported_parameter' satisfies FieldErrorCode,
      });
    const unknown = betas.filter((name) => name !== '' && !known.has(name)).slice(0, MAX_UNKNOWN_BETAS);
    demands.unknown.push(...unknown.map((name) => `${header}=${name.slice(0, 64)}`));
  }
}

/** Names, or objects with them. Anything else would leave the choice to the upstream, at an unknown price. */
function readAlternatives(path: string, demands: Demands): void {
  const { fields } = demands;
  if (fields.field(path)?.kind !== 'array')
    throw fields.refusal(path, 'invalid_value', 'must be a list of model names');
  const elements = fields.elements(`${path}[]`);
  if (elements.length > MAX_ALTERNATIVES)
    throw fields.refusal(path, 'invalid_value', `must name at most ${MAX_ALTERNATIVES} models`);
  elements.forEach((element, index) => {
    const isName = element.field.kind === 'string';
    const field = isName ? element.field : element.members.get(`${path}[].model`);
    const own = isName ? `${path}[${index}]` : `${path}[${index}].model`;
    const name = field?.kind === 'string' ? fields.decoded(field, own) : undefined;
    if (field === undefined || typeof name !== 'string')
      throw fields.refusal(own, 'invalid_value', 'must name a model');
    const options = isName ? {} : objectIn(fields, element, `${path}[${index}]`);
    if (options['speed'] === 'fast') demands.speed = 'fast';
    const limits = { outputLimit: wholeIn(options, 'max_tokens'), effort: effortOf(options) };
    demands.models.push({ path: own, name, field, role: 'alternative', ...limits });
  });
}

/** Undefined if left to the request. */
function effortOf({ output_config: config }: JsonObject): string | null | undefined {
  if (config === null) return null;
  const effort = isJsonObject(config) ? config['effort'] : undefined;
  return typeof effort === 'string' || effort === null ? effort : undefined;
}

function readNamedTools(path: string, rules: Readonly<Record<string, NamedToolRule>>, demands: Demands): void {
  const { fields } = demands;
  fields.elements(`${path}[]`).forEach(({ members }, index) => {
    for (const [member, { kind }] of members) {
      const name = member.slice(`${path}[].`.length);
      const rule = kind === 'null' ? undefined : rules[name];
      if (rule === undefined || rule.runs === 'client') continue;
      const own = `${path}[${index}].${name}`;
      if (rule.runs === 'refused')
        throw fields.refusal(own, 'unsupported_parameter', `not accepted (${rule.why}); remove it`);
      if (demands.tools.length >= MAX_HOSTED_TOOLS) throw tooManyTools(demands, path);
      demands.tools.push({ name: rule.name, path: own });
    }
  });
}

const tooManyTools = ({ fields }: Demands, path: string): AppError =>
  fields.refusal(path, 'invalid_value', `must have at most ${MAX_HOSTED_TOOLS} hosted tools`);

function readTool(type: string, tool: JsonObject, rule: ToolRule, path: string, demands: Demands): void {
  for (const [kind, id] of rule.idsIn?.(tool) ?? []) demands.scopedIds.push({ kind, id, path });
  if (rule.runs !== 'hosted' || rule.isClients?.(tool) === true) return;
  if (demands.tools.length >= MAX_HOSTED_TOOLS) throw tooManyTools(demands, path);
  demands.createsState = true;
  demands.tools.push({ name: rule.name ?? type, path, maxUses: wholeIn(tool, 'max_uses') });
}

function readAdvisor(tool: JsonObject, { members }: JsonElement, path: string, demands: Demands): void {
  const field = [...members].find(([name]) => name.endsWith('[].model'))?.[1];
  const name = tool['model'];
  if (field === undefined || typeof name !== 'string')
    throw demands.fields.refusal(`${path}.model`, 'invalid_value', 'must name a model');
  const own = `${path}.model`;
  const limits = { outputLimit: wholeIn(tool, 'max_tokens'), maxUses: wholeIn(tool, 'max_uses') };
  demands.models.push({ path: own, name, field, role: 'helper', ...limits });
  demands.addsPasses = true;
}

function stringIn(fields: JsonFields, element: JsonElement, path: string): string | undefined {
  const field = element.members.get(path);
  if (field?.kind !== 'string' || field.end - field.start > MAX_NAME_LENGTH) return undefined;
  const value = fields.decoded(field, path);
  return typeof value === 'string' ? value : undefined;
}

/** @throws AppError invalid_request when it is large or has a duplicate member */
function objectIn(fields: JsonFields, { field }: JsonElement, path: string): JsonObject {
  if (field.end - field.start > MAX_VALUE_BYTES)
    throw fields.refusal(path, 'invalid_value', `must not be larger than ${MAX_VALUE_BYTES} bytes`);
  requireSingle(fields, field, path);
  const value = fields.decoded(field, path);
  return isJsonObject(value) ? value : {};
}

/** The value of a member that is small in genuine requests. */
function small(fields: JsonFields, path: string): unknown {
  const field = fields.field(path);
  if (field !== undefined && field.end - field.start > MAX_VALUE_BYTES)
    throw fields.refusal(path, 'invalid_value', `must not be larger than ${MAX_VALUE_BYTES} bytes`);
  return fields.value(path);
}

/** What matters must be unambiguous to every parser. @throws AppError invalid_request when the value has a duplicate member */
function single(fields: JsonFields, path: string): unknown {
  const value = small(fields, path);
  requireSingle(fields, fields.field(path), path);
  return value;
}

function requireSingle(fields: JsonFields, field: JsonField | undefined, path: string): void {
  const name = field && duplicateMember(fields.text(field));
  if (name !== undefined) throw fields.refusal(`${path}.${name}`, 'invalid_value', 'duplicate member');
}

function wholeIn(value: JsonObject, name: string): number | undefined {
  const count = value[name];
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
