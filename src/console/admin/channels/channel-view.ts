import { Injectable } from '@nestjs/common';
import { RecentSignIn, type Visitor } from '../../../auth/index.js';
import {
  ChannelChanges,
  ChannelDrafts,
  type ChannelRecord,
  type CredentialNote,
  type EditedChannel,
} from '../../../catalog/channels/index.js';
import { CatalogService, formatMultiplier } from '../../../catalog/index.js';
import { recordedChanges } from '../../../platform/audit/index.js';
import { count, percent } from '../../../platform/format/index.js';
import { AppError, Clock } from '../../../platform/shared/index.js';
import { AdapterRegistry, type CheckResult, ChannelChecks } from '../../../relay/index.js';
import { RangeTooLarge, TimeLimitedReads } from '../../../usage/index.js';
import {
  type Difference,
  type Form,
  type FormBody,
  hasExpiredSecret,
  Page,
  protocolNames,
  sealedIn,
} from '../../web/index.js';
import { listAddress } from '../list-address.js';
import { costRows } from './channel-costs.js';
import { CONTROL_IDS } from './channel-errors.js';
import type { ChannelForm } from './channel-form.js';
import { type ChannelState, ChannelStates, refusedLabels } from './channel-state.js';
import { ChannelWriter } from './channel-writer.js';
import { flagSection } from './flag-controls.js';
import { rowsIn } from './form-rows.js';

/** Content of a stored channel's page besides its form. */
interface Background {
  readonly state: ChannelState;
  /** `60% of tier 1`; undefined if the channel receives no calls. */
  readonly share: string | undefined;
  /** The last recorded change, if any. */
  readonly lastChange: { readonly at: Date; readonly who: string } | undefined;
}

/** The last change is optional, so the timeout is short. */
const READ_LIMIT_MS = 1000;

@Injectable()
export class ChannelBackground {
  constructor(
    private readonly service: ChannelChanges,
    private readonly reads: TimeLimitedReads,
    private readonly states: ChannelStates,
  ) {}

  async of(channel: ChannelRecord): Promise<Background> {
    const [all, lastChange] = await Promise.all([this.service.all(), this.lastChangeOf(channel)]);
    return { state: this.states.of(channel), share: shareOf(channel, all), lastChange };
  }

  private async lastChangeOf({ id }: ChannelRecord): Promise<Background['lastChange']> {
    try {
      const filter = { kind: 'channel', object: id } as const;
      const { changes } = await this.reads.read((query) => recordedChanges(query, filter, {}, 1), READ_LIMIT_MS);
      return changes[0] && { at: changes[0].at, who: changes[0].actor.name };
    } catch (error) {
      if (error instanceof RangeTooLarge) return undefined;
      throw error;
    }
  }
}

function shareOf({ enabled, tier, weight }: ChannelRecord, all: readonly ChannelRecord[]): string | undefined {
  const others = all.filter((one) => one.enabled && one.tier === tier);
  const sum = others.reduce((weights, other) => weights + other.weight, 0);
  return !enabled || sum === 0 ? undefined : `${percent(weight, sum)} of tier ${tier}`;
}

/** Content of a channel's page. */
interface ChannelPageOptions {
  readonly form: Form<ChannelForm>;
  /** The submitted form including flags, if any. */
  readonly body?: FormBody | undefined;
  /** The channel to change or duplicate. */
  readonly stored?: ChannelRecord | undefined;
  readonly isNew: boolean;
  readonly check?: CheckView | undefined;
  readonly offered?: OfferedNames | undefined;
  readonly differences?: readonly Difference[] | undefined;
}

/** The page of one channel, new or stored. */
@Injectable()
export class ChannelView {
  constructor(
    private readonly catalog: CatalogService,
    private readonly adapters: AdapterRegistry,
    private readonly writer: ChannelWriter,
    private readonly recent: RecentSignIn,
    private readonly background: ChannelBackground,
  ) {}

  async page(visitor: Visitor, shown: ChannelPageOptions): Promise<Page> {
    const { form, body, stored, isNew, check, offered, differences } = shown;
    const flags = flagSection(textOf(form.values['protocol']), stored?.flags ?? {}, body);
    return new Page('admin/channel', {
      title: isNew ? 'Add channel' : (stored?.name ?? ''),
      ...(differences && { status: 409 }),
      data: {
        form,
        ids: CONTROL_IDS,
        channel: isNew ? undefined : stored,
        calls: stored && listAddress('/admin/calls', { channel: stored.name }),
        protocolName: stored && protocolNames(stored.protocol).name,
        crumbs: [{ href: '/admin/channels', label: 'Channels' }, { label: isNew ? 'Add' : (stored?.name ?? '') }],
        action: isNew || stored === undefined ? '/admin/channels/new' : `/admin/channels/${stored.id}`,
        from: isNew ? stored?.id : undefined,
        protocols: [...this.adapters.defaultAuth.keys()].map((id) => ({ value: id, label: protocolNames(id).name })),
        authForms: AUTH_OPTIONS,
        credentials: credentialRows(form, isNew ? [] : (stored?.credentials ?? []), sealedIn(body)),
        expired: hasExpiredSecret(body),
        focus: form.refused ? undefined : FOCUS[textOf(body?.['_act']).split(':', 1)[0] ?? ''],
        rows: modelRows(form),
        costs: costRows(form, stored),
        checkModels: checkModels(form, body),
        newModels: await this.writer.newRows(form.values, body),
        knownModels: [...this.catalog.current().models.keys()].toSorted(),
        check,
        offered,
        differences,
        unchanged: body === undefined,
        groups: this.groups(stored),
        flags,
        advanced: advancedText(form, flags.set),
        advancedOpen: ADVANCED.some((field) => field in form.errors),
        refused: refusedLabels(form),
        ...(isNew || stored === undefined ? {} : await this.background.of(stored)),
        history: stored && listAddress('/admin/audit', { kind: 'channel', object: stored.id }),
        needsPassword: this.recent.needed(visitor),
      },
    });
  }

  private groups(stored: ChannelRecord | undefined) {
    const groups = [...this.catalog.current().groups.values()];
    const gone = (stored?.groups ?? []).filter((name) => !groups.some((group) => group.name === name));
    return [
      ...groups.map(({ name, multiplier }) => ({
        value: name,
        label: name,
        text: `× ${formatMultiplier(multiplier)}`,
      })),
      ...gone.map((name) => ({ value: name, label: name, text: 'disabled' })),
    ];
  }
}

/** Fields of the folded part of the form. */
const ADVANCED = [
  'tier',
  'weight',
  'maxConcurrency',
  'connectMs',
  'firstEventMs',
  'idleMs',
  'totalMs',
  'flags',
] satisfies readonly (keyof ChannelForm | 'flags')[];

/** `Tier 1, weight 100, 2 flags set`: the folded part in short. */
function advancedText({ values }: Form<ChannelForm>, flags: number): string {
  const set = flags === 0 ? [] : [`${flags} ${flags === 1 ? 'flag' : 'flags'} set`];
  return [`Tier ${textOf(values['tier'])}`, `weight ${textOf(values['weight'])}`, ...set].join(', ');
}

const AUTH_OPTIONS = [
  { value: 'usual', label: 'Protocol default' },
  { value: 'bearer', label: 'Bearer token' },
  { value: 'header', label: 'Custom header' },
  { value: 'none', label: 'No credential' },
];

const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  typeof value === 'string' ? [value] : (value ?? []);

const textOf = (value: string | readonly string[] | undefined): string => listOf(value)[0] ?? '';

/** The element that the browser focuses after a button was pressed. A check and a list focus their results. */
const FOCUS: Readonly<Record<string, string>> = {
  row: 'row',
  adopt: 'row',
  remove: 'models',
  credential: 'credential',
  drop: 'credentials',
  again: 'costs',
};

/** Secrets are never shown: a stored one has a note, a typed one is sealed. */
function credentialRows({ values }: Form<ChannelForm>, notes: readonly CredentialNote[], sealed: readonly string[]) {
  return listOf(values['held']).map((held, index) => {
    const note = notes.find(({ reference }) => reference === held);
    return {
      number: index + 1,
      held: note === undefined ? '' : held,
      sealed: sealed[index] ?? '',
      note,
      hint: note && hintOf(note),
    };
  });
}

function hintOf({ variable, ending, serviceAccount, unreadable }: CredentialNote): string {
  if (variable !== undefined) return `From the environment variable ${variable}.`;
  if (unreadable) return 'Cannot be decrypted: SECRET_KEY has changed. Enter it again.';
  if (serviceAccount !== undefined) return `Service account ${serviceAccount}.`;
  return ending === undefined ? 'Stored.' : `Ends in ${ending}.`;
}

function modelRows({ values }: Form<ChannelForm>) {
  const [names, upstream] = [listOf(values['public']), listOf(values['upstream'])];
  const most = Math.max(names.length, upstream.length, 1);
  return Array.from({ length: most }, (_, index) => ({
    number: index + 1,
    public: names[index] ?? '',
    upstream: upstream[index] ?? '',
  }));
}

function checkModels({ values }: Form<ChannelForm>, body: FormBody | undefined) {
  const rows = rowsIn({ public: listOf(values['public']), upstream: listOf(values['upstream']) });
  const chosen = textOf(body?.['_checkModel']);
  const names = [...new Set(rows.map((row) => row.upstream || row.public))];
  return names.map((name) => ({ value: name, label: name, selected: name === chosen }));
}

/** Limit of upstream models offered on a page. */
const MAX_MODELS = 500;

/** The view of an upstream check. */
export interface CheckView {
  readonly tone: 'ok' | 'bad';
  readonly title: string;
  readonly text: string;
  readonly at: Date;
}

/** Upstream models that the form does not have yet. */
export interface OfferedNames {
  readonly names: readonly string[];
  /** Number of all upstream models. */
  readonly all: number;
  readonly fault?: string;
}

/** Queries an upstream with unsaved form values. */
@Injectable()
export class ChannelQuestions {
  constructor(
    private readonly drafts: ChannelDrafts,
    private readonly adapters: AdapterRegistry,
    private readonly questions: ChannelChecks,
    private readonly clock: Clock,
  ) {}

  /** @throws RefusedEntries if a value needed to reach the upstream is invalid */
  async check(edited: EditedChannel, model: string): Promise<CheckView> {
    const channel = await this.drafts.draft(edited, this.adapters.defaultAuth);
    return viewOf(await this.questions.check(channel, model), model, this.clock.date());
  }

  /** @throws RefusedEntries as above */
  async models(edited: EditedChannel, known: readonly string[]): Promise<OfferedNames> {
    const channel = await this.drafts.draft(edited, this.adapters.defaultAuth);
    try {
      const names = (await this.questions.models(channel)).map(({ name }) => name);
      return { names: names.filter((name) => !known.includes(name)).slice(0, MAX_MODELS), all: names.length };
    } catch (error) {
      return { names: [], all: 0, fault: AppError.from(error).message };
    }
  }
}

/** Messages of upstreams may end with a full stop, or several. */
const sentence = (message: string): string => `${message.replace(/[.\s]+$/, '')}.`;

function failureTitle(status: number | undefined): string {
  if (status === undefined) return 'No response from the upstream';
  return status >= 400 && status < 500 ? `Rejected by the upstream: ${status}` : `Upstream error: ${status}`;
}

function viewOf(
  { answered, status, message, durationMs, firstByteMs, usage }: CheckResult,
  model: string,
  at: Date,
): CheckView {
  const took = `${count(durationMs)} ms`;
  if (!answered)
    return {
      tone: 'bad',
      title: failureTitle(status),
      text: `${model}, after ${took}: ${sentence(message.replace(`${status}: `, ''))}`,
      at,
    };
  const parts = [
    ...(firstByteMs === undefined ? [] : [`First byte ${count(firstByteMs)} ms`]),
    ...(usage === undefined ? [] : [`${count(usage.input)} tokens in, ${count(usage.output)} out`]),
  ];
  return { tone: 'ok', title: `${model} responded in ${took}`, text: parts.join(' · '), at };
}
