import { Injectable } from '@nestjs/common';
import { ChannelDirectory } from '../../../catalog/channels/index.js';
import { CatalogService } from '../../../catalog/index.js';
import { hasBackup } from '../../../platform/backup/index.js';
import { Config } from '../../../platform/config/index.js';
import { Settings, SettingsEditor } from '../../../platform/settings/index.js';

/** The state that the steps are derived from. */
export interface SetupState {
  /** Whether a channel serves a stored model. */
  readonly hasModel: boolean;
  /** Models of channels that have no price, and cannot be called. */
  readonly unpriced: readonly string[];
  /** Whether the rule was chosen: the initial one lets everyone register. */
  readonly hasSignUpRule: boolean;
  readonly sendsMail: boolean;
  readonly hasBackup: boolean;
}

/** A step of the `steps` partial. */
interface SetupStep {
  readonly title: string;
  /** Empty for done steps. */
  readonly text: string;
  readonly done: boolean;
  readonly action?: { readonly href: string; readonly label: string; readonly kind?: 'primary' };
}

/** The remaining setup steps; undefined if there are none. */
export function setupSteps(state: SetupState): readonly SetupStep[] | undefined {
  const steps = STEPS.map(({ isDone, text, action, ...step }) => {
    const done = isDone(state);
    return { ...step, text: done ? '' : text(state), done, ...(!done && { action }) };
  });
  const next = steps.find(({ done }) => !done);
  return next && steps.map((step) => (step === next && step.action ? primary(step, step.action) : step));
}

const primary = (step: SetupStep, action: NonNullable<SetupStep['action']>): SetupStep => ({
  ...step,
  action: { ...action, kind: 'primary' },
});

interface StepRule {
  readonly title: string;
  readonly isDone: (state: SetupState) => boolean;
  readonly text: (state: SetupState) => string;
  readonly action: NonNullable<SetupStep['action']>;
}

const STEPS: readonly StepRule[] = [
  {
    title: 'Add models',
    isDone: ({ hasModel }) => hasModel,
    text: () => 'Connect a provider and choose the models that clients may call.',
    action: { href: '/admin/models/add', label: 'Add models' },
  },
  {
    title: 'Set prices',
    isDone: ({ hasModel, unpriced }) => hasModel && unpriced.length === 0,
    text: ({ unpriced: [first] }) =>
      first === undefined
        ? 'Models come with the list prices of their vendors. Change them, or set a multiplier for a group.'
        : `Calls to ${first} are rejected until it has a price.`,
    action: { href: '/admin/models', label: 'Show prices' },
  },
  {
    title: 'Choose who may sign up',
    isDone: ({ hasSignUpRule }) => hasSignUpRule,
    text: () => 'By default, anyone with an email address can register.',
    action: { href: '/admin/settings/sign-up', label: 'Sign-up settings' },
  },
  {
    title: 'Connect a mail server',
    isDone: ({ sendsMail }) => sendsMail,
    text: () => 'Until then, emails with verification codes and alerts are written to a folder and not sent.',
    action: { href: '/admin/settings/mail', label: 'Email settings' },
  },
  {
    title: 'Make a backup',
    isDone: ({ hasBackup: made }) => made,
    text: () => 'Run “switchboard backup FILE” on the server every day. Keep the file and SECRET_KEY on another host.',
    action: { href: '/admin/settings/site#setupHidden', label: 'Hide this checklist' },
  },
];

/** Reads what remains to be set up. */
@Injectable()
export class SetupReader {
  constructor(
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly settings: Settings,
    private readonly editor: SettingsEditor,
    private readonly config: Config,
  ) {}

  /** Undefined if nothing remains, or an administrator has hidden the list. */
  async steps(): Promise<readonly SetupStep[] | undefined> {
    const { site, mail } = this.settings.current();
    if (site.setupHidden) return undefined;
    const { revision, fixed } = await this.editor.section('signUp');
    const { models } = this.catalog.current();
    const served = this.channels.hasStored ? this.channels.all().flatMap((channel) => [...channel.models.keys()]) : [];
    return setupSteps({
      hasModel: served.some((name) => models.has(name)),
      unpriced: served.filter((name) => !models.has(name)),
      hasSignUpRule: revision > 0 || 'mode' in fixed,
      sendsMail: mail.smtpUrl !== undefined,
      hasBackup: hasBackup(this.config.dataDir),
    });
  }
}
