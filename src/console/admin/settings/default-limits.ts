import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import { CatalogChanges, CatalogInventory, ChangedMeanwhile, Numeral } from '../../../catalog/channels/index.js';
import { DEFAULT_LIMITED, LARGEST_LIMIT, type Limits } from '../../../platform/limits/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import {
  countOf,
  type Difference,
  differencesBetween,
  Form,
  type FormBody,
  IsCount,
  Page,
  Redirect,
} from '../../web/index.js';
import { comparable } from './section-form.js';
import { LIMITS_PATH, savedFlash, settingsLinks } from './settings.pages.js';

/** Kinds of subjects with default limits. */
type Kind = (typeof DEFAULT_LIMITED)[number];

const TITLES: Readonly<Record<Kind, string>> = { key: 'API key', account: 'Account', address: 'IP address' };

const Limit = (): PropertyDecorator =>
  IsCount({
    message: 'Enter a whole number of 1 or more, or leave empty for no limit.',
    min: 1,
    max: LARGEST_LIMIT,
  });

/** Default limits of a kind, as typed. */
class DefaultLimitsForm {
  /** Revision of the limits that the form was opened with. */
  @IsString({ message: 'This form is incomplete. Reload the page and try again.' })
  readonly revision: string = '';

  @Limit()
  readonly callsPerMinute: string = '';

  @Limit()
  readonly tokensPerMinute: string = '';

  @Limit()
  readonly concurrency: string = '';
}

const LABELS = {
  callsPerMinute: 'Calls per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrency: 'Concurrent calls',
} as const satisfies Readonly<Partial<Record<keyof DefaultLimitsForm, string>>>;

/** A rejected form, shown again. */
interface SubmittedLimits {
  readonly kind: Kind;
  readonly form: Form<DefaultLimitsForm>;
  /** Conflicting changes saved meanwhile. */
  readonly differences?: readonly Difference[];
}

/**
 * `/admin/settings/limits`: default limits of API keys, accounts and IP addresses. They are part of the catalog and
 * validated by its rules.
 */
@Injectable()
export class DefaultLimitPages {
  constructor(
    private readonly changes: CatalogChanges,
    private readonly inventory: CatalogInventory,
    private readonly adapters: AdapterRegistry,
  ) {}

  async show(returned?: SubmittedLimits): Promise<Page> {
    const { form, differences } = returned ?? {};
    return new Page('admin/settings-limits', {
      title: 'Default limits',
      width: 'narrow',
      ...(differences && { status: 409 }),
      data: {
        ...(form && { form }),
        ids: returned && idsOf(returned),
        links: settingsLinks(LIMITS_PATH),
        differences,
        limits: await Promise.all(DEFAULT_LIMITED.map((kind) => this.view(kind, returned))),
      },
    });
  }

  /** @throws AppError if there is no such kind */
  async save(named: string, body: FormBody): Promise<Page | Redirect> {
    const kind = DEFAULT_LIMITED.find((one) => one === named);
    if (kind === undefined) throw new AppError('not_found', `There are no default limits for “${named}”.`);
    const form = Form.read(DefaultLimitsForm, body);
    try {
      const lines = await form.attempt((value) => this.put(kind, value));
      if (lines === undefined) return await this.show({ kind, form });
      return new Redirect(LIMITS_PATH, savedFlash('Default limits saved', lines));
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      const { limits } = await this.inventory.defaultLimits(kind);
      const differences = differencesBetween(LABELS, valuesOf(limits), form.values, comparable);
      return this.show({ kind, form, differences });
    }
  }

  private async view(kind: Kind, returned: SubmittedLimits | undefined) {
    const { limits, revision } = await this.inventory.defaultLimits(kind);
    const here = returned?.kind === kind ? returned : undefined;
    return {
      kind,
      title: TITLES[kind],
      fields: Object.entries(LABELS).map(([name, label]) => ({ name, label, id: `${kind}-${name}` })),
      form: here?.form ?? Form.empty<DefaultLimitsForm>(valuesOf(limits)),
      revision: here === undefined || here.differences ? revision : here.form.values['revision'],
    };
  }

  /** @returns one line per change. @throws ChangedMeanwhile */
  private put(kind: Kind, form: DefaultLimitsForm): Promise<readonly string[]> {
    const expected = {
      subject: { kind: 'limits', name: TITLES[kind], id: kind },
      revision: form.revision,
    } as const;
    return this.changes.put({ limits: { [kind]: entryOf(form) } }, { protocols: this.adapters.defaultAuth, expected });
  }
}

/** Each kind has its own controls. */
const idsOf = ({ kind, form }: SubmittedLimits): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(form.errors).map((field) => [field, `${kind}-${field}`]));

const valuesOf = ({ requestsPerMinute, tokensPerMinute, concurrency }: Limits): FormBody => ({
  callsPerMinute: String(requestsPerMinute ?? ''),
  tokensPerMinute: String(tokensPerMinute ?? ''),
  concurrency: String(concurrency ?? ''),
});

/** The limits as a catalog file entry. */
const entryOf = ({ callsPerMinute, tokensPerMinute, concurrency }: DefaultLimitsForm): object => ({
  requests_per_minute: numeralOf(callsPerMinute),
  tokens_per_minute: numeralOf(tokensPerMinute),
  concurrency: numeralOf(concurrency),
});

const numeralOf = (text: string): Numeral | null => {
  const count = countOf(text);
  return count === undefined ? null : new Numeral(String(count));
};
