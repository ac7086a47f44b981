import { Injectable } from '@nestjs/common';
import {
  type CallBackground,
  callBackgrounds,
  type Division,
  type LogPage,
  type LogStart,
  missingCalls,
  RangeTooLarge,
  TimeLimitedReads,
  unitFor,
  type UsageFilter,
  UsageLog,
  UsageTotalsReader,
} from '../../usage/index.js';
import type { LogChoices } from './log-filters.view.js';
import type { LogFigures } from './usage-logs.view.js';

/** A page of everybody's log. */
export interface AllCallsPage {
  readonly page: LogPage;
  /** Of the calls of the page, by their ids. */
  readonly backgrounds: ReadonlyMap<string, CallBackground>;
  /** All that there is: what calls of the range have of it would have to be counted. */
  readonly choices: LogChoices;
  readonly everUsed: boolean;
  /** What is said of calls of the range that are not kept any more; undefined: all are. */
  readonly missing: string | undefined;
}

interface Choice {
  readonly kind: 'model' | 'group' | 'channel';
  readonly name: string;
}

const CHOICES = `
  SELECT 'model' AS kind, name FROM models UNION ALL SELECT 'group', name FROM groups
   UNION ALL SELECT 'channel', name FROM channels ORDER BY name`;
const USED = 'SELECT EXISTS (SELECT FROM calls) OR EXISTS (SELECT FROM open_calls) AS used';
const ACCOUNT = 'SELECT id FROM accounts WHERE id = $1 OR lower(email) = lower($1)';

/** The log of all accounts together, for operators. */
@Injectable()
export class AllCallsReader {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly log: UsageLog,
    private readonly sums: UsageTotalsReader,
  ) {}

  /** @throws RangeTooLarge */
  page(filter: UsageFilter, start: LogStart, size: number): Promise<AllCallsPage> {
    return this.reads.read(async (query) => {
      const page = await this.log.page(query, filter, start, size);
      const backgrounds = await callBackgrounds(query, page.calls);
      const choices = await query<Choice>(CHOICES);
      const everUsed = page.calls.length > 0 || (await query<{ used: boolean }>(USED))[0]?.used === true;
      const missing = await missingCalls(query, filter.from);
      return { page, backgrounds, choices: choicesOf(choices), everUsed, missing };
    });
  }

  /** Undefined where the calls of the filter are too many to be added up in time. */
  async figures(
    filter: UsageFilter,
    timeZone: string,
    division: Division | undefined,
  ): Promise<LogFigures | undefined> {
    try {
      return await this.reads.read(async (query) => {
        const scale = { unit: unitFor(filter.from, filter.to), timeZone };
        return { sums: await this.sums.read(query, filter, scale, division), scale };
      });
    } catch (error) {
      if (error instanceof RangeTooLarge) return undefined;
      throw error;
    }
  }

  /** Who of all accounts a call is of. @throws RangeTooLarge */
  async background(call: { readonly id: string; readonly createdAt: Date }): Promise<CallBackground | undefined> {
    return this.reads.read(async (query) => (await callBackgrounds(query, [call])).get(call.id));
  }

  /** The id of the account that an operator means. @param user its id or email address; what is neither is nobody's id */
  async accountOf(user: string): Promise<string> {
    const [account] = await this.reads.read((query) => query<{ id: string }>(ACCOUNT, [user]));
    return account?.id ?? user;
  }
}

function choicesOf(choices: readonly Choice[]): LogChoices {
  const of = (kind: Choice['kind']): string[] =>
    choices.filter((choice) => choice.kind === kind).map(({ name }) => name);
  return { models: of('model'), groups: of('group'), channels: of('channel'), keys: [] };
}
