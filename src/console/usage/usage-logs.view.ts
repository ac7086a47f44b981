import { Injectable } from '@nestjs/common';
import {
  type CallDetails,
  type ChartScale,
  type Division,
  type LoggedCall,
  type LogPosition,
  type LogStart,
  RESULT_LABELS,
  RESULT_TONES,
  type UsageTotals,
} from '../../usage/index.js';
import { Cursors, protocolNames } from '../web/index.js';
import { openedCall } from './call.view.js';
import { messageWithoutReason } from './error-text.js';
import { chipsOf, CLEARED, filters, keptFilters, type LogChoices } from './log-filters.view.js';
import { usageCharts } from './usage-charts.view.js';
import { type AddressParts, DIVISIONS, logAddress, type LogPath, RANGES, type UsageQuery } from './usage-query.js';

/** Data of the charts. */
export interface LogFigures {
  readonly sums: UsageTotals;
  readonly scale: ChartScale;
}

interface LogInput extends LogChoices {
  readonly query: UsageQuery;
  readonly entry: LogEntry;
  readonly calls: readonly LoggedCall[];
  /** Sealed cursors. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
  /** Undefined if the query timed out. */
  readonly figures: LogFigures | undefined;
  /** The call whose row is expanded. */
  readonly opened: CallDetails | undefined;
  /** Whether there is any call, regardless of range and filters. */
  readonly everUsed: boolean;
  /** Whether the URL had an invalid cursor. */
  readonly lost: boolean;
  /** Notice that calls in the range are no longer stored; undefined if all are. */
  readonly missing?: string | undefined;
}

const DIVISION_LABELS: Readonly<Record<Division | '', string>> = {
  '': 'Total',
  model: 'By model',
  key: 'By key',
  channel: 'By channel',
};

export function logPage(input: LogInput) {
  const { query, entry, calls, figures, opened } = input;
  const seriesNames = new Map(input.keys.map(({ id, name }) => [id, name]));
  const chips = chipsOf(query, input);
  return {
    ranges: [
      ...RANGES.map(({ name, label }) => ({
        label,
        href: logAddress(query, { range: name }),
        current: query.range === name,
      })),
      { label: 'Custom…', href: logAddress(query, { range: 'custom' }), current: query.range === 'custom' },
    ],
    divisions: (['', ...DIVISIONS[query.path]] as const).map((by) => ({
      label: DIVISION_LABELS[by],
      href: logAddress(query, { by }),
      current: query.by === by,
    })),
    custom: query.range === 'custom' && {
      from: query.from,
      to: query.to,
      keep: keptFilters(query, { range: '', from: '', to: '' }),
    },
    // No calls yet: the page shows no filters.
    fresh: !input.everUsed && chips.length === 0,
    problem: query.problem,
    lost: input.lost,
    missing: input.missing,
    exportHref: logAddress({ ...query, by: '', size: 50 }, {}, '.csv'),
    charts:
      figures &&
      usageCharts({
        ...figures,
        upToNow: isUpToNow(query),
        chargeName: query.path === '/admin/calls' ? 'Charged' : 'Cost',
        seriesNames,
      }),
    ...filters(query, input, chips),
    rows: calls.map((call) => {
      const isOpen = opened?.call.id === call.id;
      const href = `${logAddress(query, { ...place(entry), ...(!isOpen && { open: call.id }) })}#c-${call.id}`;
      return { ...callRow(call, href, isOpen), detail: isOpen && opened ? openedCall(opened, query.path) : undefined };
    }),
    newer: input.newer && logAddress(query, { after: input.newer }),
    older: input.older && logAddress(query, { before: input.older }),
    pagerText: `Newest first, ${query.size} a page`,
    // Shown only without rows.
    empty: calls.length > 0 ? undefined : emptiness(input, chips.length > 0),
  };
}

const isUpToNow = ({ request, range }: UsageQuery): boolean => request === '' && range !== 'custom';

const place = ({ before, after }: LogEntry): LogEntry => ({ ...(before && { before }), ...(after && { after }) });

function emptiness({ query, everUsed }: LogInput, filtered: boolean) {
  if (query.request !== '')
    return {
      title: 'No call with this ID',
      text: 'The ID is in the x-request-id response header and starts with req_.',
      action: { href: logAddress(query, CLEARED), label: 'Clear filters' },
    };
  if (filtered)
    return {
      title: 'No calls match these filters',
      text: 'Remove a filter or choose a longer range.',
      action: { href: logAddress(query, CLEARED), label: 'Clear filters' },
    };
  if (everUsed)
    return {
      title: 'No calls in this range',
      text: 'Choose a longer range to see earlier calls.',
      action: { href: logAddress(query, { range: '30d' }), label: 'Show 30 days' },
    };
  return {
    title: 'No calls yet',
    text: 'Create a key and connect a client. Your first call appears here with its exact cost.',
    action: { href: '/keys/new', label: 'Create API key', icon: 'plus' },
    other: { href: '/pricing', label: 'Browse models' },
  };
}

/** So much of an error's message stands in the list; all of it stands with the call. */
const MAX_CHARACTERS = 60;

/** A call as a row of the log. @param href opens the row, or closes it */
const callRow = (call: LoggedCall, href: string, isOpen: boolean) => ({
  id: call.id,
  href,
  isOpen,
  at: call.createdAt,
  model: call.model,
  context: [call.group, call.key, protocolNames(call.protocol).short].filter((text) => text !== '').join(' · '),
  prompt: call.promptTokens,
  completion: call.completionTokens,
  tokenParts: tokenParts(call),
  running: call.result === 'open',
  cost: call.cost,
  firstTokenMs: call.firstTokenMs,
  durationMs: call.durationMs,
  badge: { tone: RESULT_TONES[call.result], label: RESULT_LABELS[call.result] },
  reason: call.errorReason,
  why: shortened(messageWithoutReason(call)),
  attempts: call.attempts > 1 ? call.attempts : undefined,
});

function tokenParts({ cachedTokens, reasoningTokens }: LoggedCall): readonly { tokens: number; name: string }[] {
  return [
    { tokens: cachedTokens ?? 0, name: 'cached' },
    { tokens: reasoningTokens ?? 0, name: 'reasoning' },
  ].filter(({ tokens }) => tokens > 0);
}

const shortened = (text: string): string =>
  text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1).trimEnd()}…` : text;

/** Where the log was entered: `before` and `after` as the address has them; `open` is the call whose row is open. */
export interface LogEntry {
  readonly before?: string;
  readonly after?: string;
  readonly open?: string;
}

/** The places in a log that stand in its addresses, sealed. */
@Injectable()
export class LogPlaces {
  constructor(private readonly cursors: Cursors) {}

  /** `lost`: the place is none of ours, so the newest calls are shown. */
  startOf(path: LogPath, { before, after }: LogEntry): { readonly start: LogStart; readonly lost: boolean } {
    const sealed = before ?? after;
    if (sealed === undefined) return { start: undefined, lost: false };
    const { at, id } = this.cursors.open(listOf(path), sealed) ?? {};
    if (at === undefined || id === undefined) return { start: undefined, lost: true };
    return { start: before === undefined ? { after: [at, id] } : { before: [at, id] }, lost: false };
  }

  seal(path: LogPath, position: LogPosition | undefined): string | undefined {
    return position && this.cursors.seal(listOf(path), { at: position[0], id: position[1] });
  }
}

const listOf = (path: LogPath): string => (path === '/admin/calls' ? 'calls' : 'usage');

export function entryOf(parts: AddressParts): LogEntry {
  const text = (name: string): string | undefined => {
    const part = parts[name];
    return typeof part === 'string' && part !== '' ? part : undefined;
  };
  const [before, after, open] = [text('before'), text('after'), text('open')];
  return { ...(before && { before }), ...(!before && after && { after }), ...(open && { open }) };
}
