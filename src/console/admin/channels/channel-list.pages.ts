import { Injectable } from '@nestjs/common';
import { ChannelChanges, type ChannelRecord } from '../../../catalog/channels/index.js';
import { protocolNames, Page } from '../../web/index.js';
import { percent } from '../../../platform/format/index.js';
import { filterOptions, type ListQuery, textIn } from '../list-address.js';
import { ChannelFiguresReader, type ChannelRows } from './channel-figures.js';
import { type ChannelState, ChannelStates, STATE_LABELS } from './channel-state.js';

interface ChannelListFilter {
  readonly text: string;
  readonly protocol: string;
  readonly state: string;
}

interface ChannelListItem {
  readonly channel: ChannelRecord;
  readonly state: ChannelState;
}

/** `/admin/channels`: the channel list, filtered by query parameters. */
@Injectable()
export class ChannelListPages {
  constructor(
    private readonly service: ChannelChanges,
    private readonly states: ChannelStates,
    private readonly figures: ChannelFiguresReader,
  ) {}

  async list(query: ListQuery): Promise<Page> {
    const filter = filterOf(query);
    const [records, attempts] = [await this.service.all(), await this.figures.lastDay()];
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
        protocols: filterOptions(
          [['', 'Any protocol'], ...protocols.map((id) => [id, protocolNames(id).name] as const)],
          filter.protocol,
        ),
        states: filterOptions([['', 'Any state'], ...Object.entries(STATE_LABELS)], filter.state),
        shown: found.length,
        on: found.filter(({ channel }) => channel.enabled).length,
        ...ACTIONS,
      },
    });
  }

  private rowOf({ channel, state }: ChannelListItem, attempts: ReadonlyMap<string, ChannelRows> | undefined) {
    const { id, name, protocol, tier, weight, models, formerNames } = channel;
    const rows = [name, ...formerNames].flatMap((one) => attempts?.get(one) ?? []);
    const figures = this.figures.figuresOf(rows);
    return {
      id,
      name,
      protocol: protocolNames(protocol).name,
      state,
      models: Object.keys(models).length,
      routing: `${tier} · ${weight}`,
      success: figures && percent(figures.success, 1),
      strip: figures?.strip,
      firstTokenMs: figures?.firstTokenMs,
    };
  }
}

const ACTIONS = {
  addModels: { href: '/admin/models/add', label: 'Add models', icon: 'plus' },
  firstChannel: { href: '/admin/channels/new', label: 'Add channel', icon: 'plug' },
  all: { href: '/admin/channels', label: 'Clear filters' },
};

const filterOf = (query: ListQuery): ChannelListFilter => ({
  text: textIn(query, 'q') ?? '',
  protocol: textIn(query, 'p') ?? '',
  state: textIn(query, 's') ?? '',
});

/** Matches name, URL and models. */
function isMeant({ channel, state }: ChannelListItem, filter: ChannelListFilter): boolean {
  const { name, baseUrl, models, protocol } = channel;
  const words = [name, baseUrl, ...Object.keys(models), ...Object.values(models).flat()].join('\n').toLowerCase();
  return (
    words.includes(filter.text.toLowerCase()) &&
    (filter.protocol === '' || filter.protocol === protocol) &&
    (filter.state === '' || filter.state === state.name)
  );
}
