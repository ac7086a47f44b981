import { AppError } from '../../platform/shared/index.js';

/** What a provider says about a user: the ID token's claims, and those of its UserInfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

export const RULE_TARGETS = ['administrator', 'group', 'organization', 'team'] as const;
export type RuleTarget = (typeof RULE_TARGETS)[number];

/** Users whose claim has a value are assigned the target. */
export interface ClaimRule {
  /** Path with dots: `groups`, `realm_access.roles`. */
  readonly claim: string;
  /** The claim's value, or one of its list. Case-sensitive. */
  readonly value: string;
  readonly target: RuleTarget;
  /** Name of the group, or ID of the organization; empty for administrators. */
  readonly id: string;
  /** Role in the organization, or ID of the team; empty for others. */
  readonly detail: string;
  /** Of the target, when the rule was saved: `administrator`, `group saver`, `organization Acme, admin`. */
  readonly label: string;
}

/** How a rule applies: only the first match of each target counts. */
export type RuleResult = 'applies' | 'overruled' | 'no match' | 'unreadable';

/** What the claims of a user assign. A target that is in neither list is assigned by no rule. */
export interface MappedAssignments {
  /** At most one for each target. */
  readonly assigned: readonly ClaimRule[];
  /** Targets (`targetOf`) whose claims the provider left out of its response: they stay as they are. */
  readonly unreadable: readonly string[];
}

export const NO_ASSIGNMENTS: MappedAssignments = { assigned: [], unreadable: [] };

/** What a rule decides on; an organization and a team within it are decided separately. */
export const targetOf = ({ target, id }: Pick<ClaimRule, 'target' | 'id'>): string =>
  target === 'organization' || target === 'team' ? `${target} ${id}` : target;

/** One result per rule. */
export function ruleResults(rules: readonly ClaimRule[], claims: Claims): readonly RuleResult[] {
  const decided = new Set<string>();
  return rules.map((rule) => {
    const target = targetOf(rule);
    if (decided.has(target)) return 'overruled';
    const result = resultOf(rule, claims);
    if (result !== 'no match') decided.add(target);
    return result;
  });
}

export function assignmentsBy(rules: readonly ClaimRule[], claims: Claims): MappedAssignments {
  const results = ruleResults(rules, claims);
  const having = (result: RuleResult): readonly ClaimRule[] => rules.filter((_, index) => results[index] === result);
  return { assigned: having('applies'), unreadable: having('unreadable').map(targetOf) };
}

/** An unreadable claim could match, so that later rules of the target cannot apply. */
function resultOf({ claim, value }: ClaimRule, claims: Claims): RuleResult {
  if (valuesAt(claims, claim).some((one) => textOf(one) === value)) return 'applies';
  return distributedClaims(claims).includes(firstName(claims, claim)) ? 'unreadable' : 'no match';
}

/**
 * Claims that the provider keeps elsewhere (OpenID Connect Core 5.6.2). Entra ID does so with `groups` of users who are
 * in too many.
 */
export const distributedClaims = ({ _claim_names: names }: Claims): readonly string[] =>
  isObject(names) ? Object.keys(names) : [];

const firstName = ({ _claim_names: names }: Claims, path: string): string =>
  isObject(names) && Object.hasOwn(names, path) ? path : (path.split('.', 1)[0] ?? path);

/** Deeper values are not looked at. */
const MAX_DEPTH = 12;

/** The values at a path. Of lists, those of all elements. Names may contain dots: `https://example.com/roles`. */
function valuesAt(value: unknown, path: string, depth = 0): readonly unknown[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, path, depth + 1));
  if (path === '') return [value];
  if (!isObject(value)) return [];
  if (Object.hasOwn(value, path)) return valuesAt(value[path], '', depth + 1);
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const name = path.slice(0, dot);
    if (Object.hasOwn(value, name)) return valuesAt(value[name], path.slice(dot + 1), depth + 1);
  }
  return [];
}

const isObject = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined for values that no rule can name. */
const textOf = (value: unknown): string | undefined =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;

/** A claim for display. */
export interface ListedClaim {
  /** As a rule names it. */
  readonly path: string;
  readonly values: readonly string[];
}

const MAX_LISTED = 200;

/** Claims by path, with those of nested objects. */
export function listedClaims(claims: Claims, prefix = '', depth = 0): readonly ListedClaim[] {
  return Object.entries(claims)
    .flatMap(([name, value]) => {
      const path = `${prefix}${name}`;
      if (isObject(value) && depth < MAX_DEPTH) return listedClaims(value, `${path}.`, depth + 1);
      return [{ path, values: [value].flat().map((one) => textOf(one) ?? JSON.stringify(one) ?? '') }];
    })
    .slice(0, MAX_LISTED);
}

/** For the audit log: `groups = staff: group saver`. */
export const ruleText = ({ claim, value, label }: ClaimRule): string => `${claim} = ${value}: ${label}`;

/** A rule's row has an invalid value. The message starts with what to enter. */
export class InvalidRule extends AppError {
  /** @param row from 1 */
  constructor(row: number, message: string) {
    super('invalid_request', `Rule ${row}: ${message}`, { param: 'rules' });
  }
}

export const MAX_RULES = 100;
/** Owners are not assigned: ownership moves only when it is accepted. */
export const MAPPED_ROLES = ['admin', 'billing', 'member', 'viewer'] as const;
const CLAIM = /^[^\s\p{Cc}]{1,200}$/u;
const VALUE = /^[^\p{Cc}]{1,500}$/u;

/** Checks what does not depend on other data. @throws InvalidRule */
export function checkRules(rules: readonly ClaimRule[]): void {
  if (rules.length > MAX_RULES) throw new InvalidRule(MAX_RULES + 1, `Remove it: there can be ${MAX_RULES} at most.`);
  for (const [index, { claim, value }] of rules.entries()) {
    if (!CLAIM.test(claim))
      throw new InvalidRule(index + 1, 'Enter the name of a claim, such as groups or realm_access.roles.');
    if (!VALUE.test(value)) throw new InvalidRule(index + 1, 'Enter the value that the claim must have.');
  }
}
