import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/shared/index.js';
import { Cursors, Page, Redirect } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import {
  isImportable,
  KEY_CONDITIONS,
  type KeyCondition,
  type KeyFilter,
  type OwnKey,
  OwnKeys,
  PAGE_KEYS,
} from '../../keys/index.js';
import { badgeOf, CONDITION_BADGES, expiryView, fullestOf, limitsOf, paceText } from './key-facts.js';

/** An address's query as Fastify reads it. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_TEXT = 100;
/** As long as a key can be. */
const MAX_SECRET = 512;
const LIST = 'keys';

/** `/keys`: the list, narrowed by its address. */
@Injectable()
export class KeyListPages {
  constructor(
    private readonly keys: OwnKeys,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  async list({ accountId, timeZone }: Visitor, query: Query): Promise<Page | Redirect> {
    const secret = textIn(query, 'q', MAX_SECRET);
    if (secret !== undefined && isImportable(secret)) return this.bySecret(accountId, secret);
    const filter = filterOf(query);
    const position = this.cursors.placeIn(LIST, query);
    const { keys, newer, older } = await this.keys.page(accountId, filter, position ?? {});
    const groups = await this.keys.groupsInUse(accountId);
    const now = this.clock.date();
    return new Page('keys/list', {
      title: 'API keys',
      data: {
        rows: keys.map((key) => rowOf(key, timeZone, now)),
        nothing: keys.length === 0 && isEmpty(filter),
        stale: position === undefined,
        text: filter.text ?? '',
        groups: options([['', 'All groups'], ...groups.map((name) => [name, name] as const)], filter.group),
        states: options(STATES, filter.condition),
        chips: chipsOf(filter),
        newer: newer ? this.address(filter, 'after', keys[0]) : undefined,
        older: older ? this.address(filter, 'before', keys.at(-1)) : undefined,
        pages: newer || older,
        shown: keys.length,
        perPage: PAGE_KEYS,
        ...ACTIONS,
      },
    });
  }

  /** A whole key was pasted: leads away at once, so that it stands neither on a page nor in the address shown. */
  private async bySecret(accountId: string, secret: string): Promise<Redirect> {
    const key = await this.keys.bySecret(accountId, secret);
    if (key !== undefined)
      return new Redirect(addressOf({ text: key.hint, condition: key.state === 'deleted' ? 'deleted' : undefined }));
    return new Redirect('/keys', {
      tone: 'warn',
      title: 'The pasted key is not one of yours',
      text: 'It may belong to another account or be incomplete.',
    });
  }

  /** Undefined when the address names a place that is none. */
  private address(filter: KeyFilter, side: 'before' | 'after', key: OwnKey | undefined): string | undefined {
    return key && addressOf(filter, { [side]: this.cursors.seal(LIST, { id: key.id }) });
  }
}

const ACTIONS = {
  firstKey: { href: '/keys/new', label: 'Create API key', icon: 'plus' },
  models: { href: '/pricing', label: 'Browse models' },
  all: { href: '/keys', label: 'Clear filters' },
};

const STATES: readonly (readonly [string, string])[] = [
  ['', 'Not deleted'],
  ...Object.entries(CONDITION_BADGES).map(([value, { label }]) => [value, label] as const),
];

function filterOf(query: Query): KeyFilter {
  const condition = KEY_CONDITIONS.find((one) => one === textIn(query, 'state'));
  return { text: textIn(query, 'q'), group: textIn(query, 'group'), condition };
}

/** Undefined where there is nothing; no signs that no name has, and that the database would not take. */
function textIn(query: Query, name: string, most?: number): string | undefined {
  const value = query[name];
  const text = typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, '').trim() : '';
  return text === '' ? undefined : text.slice(0, most ?? (name === 'q' || name === 'group' ? MAX_TEXT : undefined));
}

const isEmpty = ({ text, group, condition }: KeyFilter): boolean => (text ?? group ?? condition) === undefined;

const options = (pairs: readonly (readonly [string, string])[], chosen = '') =>
  pairs.map(([value, label]) => ({ value, label, selected: value === chosen }));

function addressOf({ text, group, condition }: KeyFilter, more: Readonly<Record<string, string>> = {}): string {
  const parameters = { q: text, group, state: condition, ...more };
  const there = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) there.set(name, value);
  return there.size === 0 ? '/keys' : `/keys?${there.toString()}`;
}

function chipsOf(filter: KeyFilter): readonly { label: string; value: string; href: string }[] {
  const label = (condition: KeyCondition): string => CONDITION_BADGES[condition].label;
  const chips = [
    { label: 'Search', value: filter.text, href: addressOf({ ...filter, text: undefined }) },
    { label: 'Group', value: filter.group, href: addressOf({ ...filter, group: undefined }) },
    {
      label: 'State',
      value: filter.condition && label(filter.condition),
      href: addressOf({ ...filter, condition: undefined }),
    },
  ];
  return chips.flatMap(({ value, ...chip }) => (value === undefined ? [] : [{ ...chip, value }]));
}

const rowOf = (key: OwnKey, timeZone: string, now: Date) => ({
  id: key.id,
  name: key.name,
  hint: key.hint,
  group: key.group,
  used: key.used,
  limit: fullestOf(limitsOf(key)),
  pace: paceText(key),
  lastUsedAt: key.lastUsedAt,
  expiry: expiryView(key.expiresAt, timeZone, now),
  badge: badgeOf(key),
  deleted: key.state === 'deleted',
});
