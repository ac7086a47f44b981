import { Injectable } from '@nestjs/common';
import { Cursors, Page } from '../../web/index.js';
import {
  CODE_STATES,
  type CodeFilter,
  type CodeState,
  type RedemptionCode,
  RedemptionService,
} from '../../../wallet/index.js';
import { filterOptions, listAddress, type ListQuery, pageOf, textIn } from '../list-address.js';

const LIST = 'codes';
const PAGE_CODES = 50;

const BADGES: Readonly<Record<CodeState, { readonly tone: 'ok' | 'warn' | 'bad' | ''; readonly label: string }>> = {
  open: { tone: 'ok', label: 'Open' },
  redeemed: { tone: '', label: 'Redeemed' },
  expired: { tone: 'warn', label: 'Expired' },
  voided: { tone: 'bad', label: 'Voided' },
};

const STATES: readonly (readonly [string, string])[] = [
  ['', 'Any state'],
  ...Object.entries(BADGES).map(([state, { label }]) => [state, label] as const),
];

/** `/admin/codes`: all codes, filtered by query parameters. Never shows the codes themselves. */
@Injectable()
export class CodeListPages {
  constructor(
    private readonly codes: RedemptionService,
    private readonly cursors: Cursors,
  ) {}

  async list(query: ListQuery): Promise<Page> {
    const filter = filterOf(query);
    const position = this.cursors.placeIn(LIST, query);
    const found = await this.codes.page(filter, position ?? {}, PAGE_CODES + 1);
    const { shown, newer, older } = pageOf(found, PAGE_CODES, position ?? {});
    return new Page('admin/codes', {
      title: 'Redemption codes',
      data: {
        rows: shown.map(rowOf),
        nothing: shown.length === 0 && Object.values(filter).every((value) => value === undefined),
        stale: position === undefined,
        text: filter.text ?? '',
        batch: filter.batch,
        voidable: filter.batch !== undefined && shown.some(({ state }) => state === 'open'),
        states: filterOptions(STATES, filter.state),
        keep: filter.batch === undefined ? [] : [{ name: 'batch', value: filter.batch }],
        ...ACTIONS,
        newer: newer ? this.address(filter, 'after', shown[0]) : undefined,
        older: older ? this.address(filter, 'before', shown.at(-1)) : undefined,
        perPage: PAGE_CODES,
      },
    });
  }

  private address(filter: CodeFilter, side: 'before' | 'after', code: RedemptionCode | undefined): string | undefined {
    if (code === undefined) return undefined;
    const { text, state, batch } = filter;
    return listAddress('/admin/codes', { q: text, state, batch, [side]: this.cursors.seal(LIST, { id: code.id }) });
  }
}

const ACTIONS = {
  first: { href: '/admin/codes/new', label: 'Create codes', icon: 'plus' },
  all: { href: '/admin/codes', label: 'Clear filters' },
};

const filterOf = (query: ListQuery): CodeFilter => ({
  text: textIn(query, 'q'),
  state: CODE_STATES.find((state) => state === textIn(query, 'state')),
  batch: textIn(query, 'batch'),
});

const rowOf = (code: RedemptionCode) => ({
  id: code.id,
  batchId: code.batchId,
  amount: code.amount,
  note: code.note,
  createdAt: code.createdAt,
  expiresAt: code.expiresAt,
  redeemedAt: code.redeemedAt,
  redeemedBy: code.redeemedBy,
  redeemedById: code.redeemedById,
  badge: BADGES[code.state],
  open: code.state === 'open',
});
