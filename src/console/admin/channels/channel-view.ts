import { Injectable } from '@nestjs/common';
import { RecentSignIn, type Visitor } from '../../../auth/index.js';
import { CatalogService, formatMultiplier } from '../../../catalog/index.js';
import { type ChannelRecord, type CredentialNote } from '../../../catalog/channels/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { type Difference, protocolNames, type Form, type FormBody, Page } from '../../web/index.js';
import { listAddress } from '../list-address.js';
import { ChannelBackground } from './channel-background.js';
import { costRows } from './channel-costs.js';
import { CONTROL_IDS } from './channel-errors.js';
import type { ChannelForm } from './channel-form.js';
import { refusedLabels } from './channel-labels.js';
import type { CheckView, OfferedNames } from './channel-questions.js';
import { ChannelStates } from './channel-states.js';
import { flagSection } from './flag-controls.js';
import { rowsIn } from './model-rows.js';

/** What the page of a channel shows. */
export interface Shown {
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
    private readonly states: ChannelStates,
    private readonly recent: RecentSignIn,
    private readonly background: ChannelBackground,
  ) {}

  async page(visitor: Visitor, shown: Shown): Promise<Page> {
    const { form, body, stored, isNew, check, offered, differences } = shown;
    const protocol = textOf(form.values['protocol']);
    return new Page('admin/channel', {
      title: isNew ? 'Add channel' : (stored?.name ?? ''),
      ...(differences && { status: 409 }),
      data: {
        form,
        ids: CONTROL_IDS,
        channel: isNew ? undefined : stored,
        calls: stored && listAddress('/admin/calls', { channel: stored.name }),
        state: isNew || stored === undefined ? undefined : this.states.of(stored),
        protocolName: stored && protocolNames(stored.protocol).name,
        crumbs: [{ href: '/admin/channels', label: 'Channels' }, { label: isNew ? 'Add' : (stored?.name ?? '') }],
        action: isNew || stored === undefined ? '/admin/channels/new' : `/admin/channels/${stored.id}`,
        from: isNew ? stored?.id : undefined,
        protocols: [...this.adapters.usualAuth.keys()].map((id) => ({ value: id, label: protocolNames(id).name })),
        authForms: AUTH_OPTIONS,
        credentials: credentialRows(form, isNew ? [] : (stored?.credentials ?? [])),
        retype: listOf(body?.['secret']).some((text) => text.trim() !== ''),
        rows: modelRows(form),
        costs: costRows(form, stored),
        checkModels: checkModels(form, body),
        knownModels: [...this.catalog.current().models.keys()].toSorted(),
        check,
        offered,
        differences,
        groups: this.groups(stored),
        flags: flagSection(protocol, stored?.flags ?? {}, body),
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

const AUTH_OPTIONS = [
  { value: 'usual', label: 'Protocol default' },
  { value: 'bearer', label: 'Bearer token' },
  { value: 'header', label: 'Custom header' },
  { value: 'none', label: 'No credential' },
];

export const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  typeof value === 'string' ? [value] : (value ?? []);

const textOf = (value: string | readonly string[] | undefined): string => listOf(value)[0] ?? '';

/** Secrets are never shown: a stored one has a note, a new one an empty field. */
function credentialRows({ values }: Form<ChannelForm>, notes: readonly CredentialNote[]) {
  return listOf(values['held']).map((held, index) => {
    const note = notes.find(({ reference }) => reference === held);
    return { number: index + 1, held: note === undefined ? '' : held, note, hint: note && hintOf(note) };
  });
}

function hintOf({ variable, ending, unreadable }: CredentialNote): string {
  if (variable !== undefined) return `From the environment variable ${variable}.`;
  if (unreadable) return 'Cannot be decrypted: SECRET_KEY has changed. Enter it again.';
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
