import { Injectable } from '@nestjs/common';
import { ChannelDesk, type ChannelRecord } from '../../channels/index.js';
import { dialectNames, Page, percent } from '../../web/index.js';
import { ChannelFiguresReader, type ChannelRows } from './channel-figures.js';
import { type ChannelState, STATE_LABELS } from './channel-state.js';
import { ChannelStates } from './channel-states.js';

/** An address's query as Fastify reads it. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_TEXT = 100;
const SUCCESS_DIGITS = 1;

interface Filter {
  readonly text: string;
  readonly protocol: string;
  readonly state: string;
}

interface Found {
  readonly channel: ChannelRecord;
  readonly state: ChannelState;
}

/** `/admin/channels`: all of them, narrowed by the address. */
@Injectable()
export class ChannelListPages {
  constructor(
    private readonly desk: ChannelDesk,
    private readonly states: ChannelStates,
    private readonly figures: ChannelFiguresReader,
  ) {}

  async list(query: Query): Promise<Page> {
    const filter = filterOf(query);
    const [records, attempts] = [await this.desk.all(), await this.figures.lastDay()];
    const all = records.map((channel) => ({ channel, state: this.states.of(channel) }));
    const found = all.filter((one) => isMeant(one, filter));
    const protocols = [...new Set(records.map(({ protocol }) => protocol))].toSorted();
    return new Page('admin/channels', {
      title: 'Channels',
      data: {
        rows: found.map((one) => this.rowOf(one, attempts)),
        nothing: records.length === 0,
        tooSlow: attempts === undefined,
        text: filter.text,
        protocols: optionsOf(
          [['', 'Any'], ...protocols.map((id) => [id, dialectNames(id).name] as const)],
          filter.protocol,
        ),
        states: optionsOf([['', 'Any state'], ...Object.entries(STATE_LABELS)], filter.state),
        shown: found.length,
        on: found.filter(({ channel }) => channel.enabled).length,
        ...ACTIONS,
      },
    });
  }

  private rowOf({ channel, state }: Found, attempts: ReadonlyMap<string, ChannelRows> | undefined) {
    const { id, name, protocol, tier, weight, models, formerNames } = channel;
    const rows = [name, ...formerNames].flatMap((one) => attempts?.get(one) ?? []);
    const figures = this.figures.figuresOf(rows);
    return {
      id,
      name,
      protocol: dialectNames(protocol).name,
      state,
      models: Object.keys(models).length,
      routing: `${tier} · ${weight}`,
      success: figures && percent(figures.success, SUCCESS_DIGITS),
      strip: figures?.strip,
      firstTokenMs: figures?.firstTokenMs,
    };
  }
}

const ACTIONS = {
  firstChannel: { href: '/admin/channels/new', label: 'Add the first channel', icon: 'plus' },
  all: { href: '/admin/channels', label: 'Clear filters' },
};

const filterOf = (query: Query): Filter => ({
  text: textIn(query, 'q'),
  protocol: textIn(query, 'p'),
  state: textIn(query, 's'),
});

const textIn = (query: Query, name: string): string => {
  const value = query[name];
  return typeof value === 'string' ? value.trim().slice(0, MAX_TEXT) : '';
};

/** By its name, an address, or a model. */
function isMeant({ channel, state }: Found, filter: Filter): boolean {
  const { name, baseUrl, models, protocol } = channel;
  const words = [name, baseUrl, ...Object.keys(models), ...Object.values(models).flat()].join('\n').toLowerCase();
  return (
    words.includes(filter.text.toLowerCase()) &&
    (filter.protocol === '' || filter.protocol === protocol) &&
    (filter.state === '' || filter.state === state.name)
  );
}

const optionsOf = (pairs: readonly (readonly [string, string])[], chosen: string) =>
  pairs.map(([value, label]) => ({ value, label, selected: value === chosen }));
