import { Injectable } from '@nestjs/common';
import { CatalogChanges, CatalogInventory } from '../../../catalog/channels/index.js';
import { DEFAULT_LIMITED } from '../../../platform/limits/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { Form } from '../../web/index.js';
import { limitsEntry, limitValues, type DefaultLimitsForm } from './default-limits.form.js';

/** Kinds of subjects with default limits. */
export type Kind = (typeof DEFAULT_LIMITED)[number];

const TITLES: Readonly<Record<Kind, string>> = { key: 'API key', account: 'Account', address: 'IP address' };

/** The form of one kind. */
interface DefaultLimitsView {
  readonly kind: Kind;
  readonly title: string;
  readonly form: Form<DefaultLimitsForm>;
  readonly revision: unknown;
}

/** A submitted form that is shown again. */
export interface FilledLimits {
  readonly kind: Kind;
  readonly form: Form<DefaultLimitsForm>;
  /** Whether the current values are shown beside it. */
  readonly conflict: boolean;
}

/** Default limits of API keys, accounts and IP addresses. They are part of the catalog and validated by its rules. */
@Injectable()
export class DefaultLimitSettings {
  constructor(
    private readonly desk: CatalogChanges,
    private readonly inventory: CatalogInventory,
    private readonly adapters: AdapterRegistry,
  ) {}

  views(filled: FilledLimits | undefined): Promise<readonly DefaultLimitsView[]> {
    return Promise.all(
      DEFAULT_LIMITED.map(async (kind) => {
        const { limits, revision } = await this.inventory.defaultLimits(kind);
        const here = filled?.kind === kind ? filled : undefined;
        return {
          kind,
          title: TITLES[kind],
          form: here?.form ?? Form.empty<DefaultLimitsForm>(limitValues(limits)),
          revision: here === undefined || here.conflict ? revision : here.form.values['revision'],
        };
      }),
    );
  }

  /** The current form values. */
  async now(kind: Kind): Promise<ReturnType<typeof limitValues>> {
    return limitValues((await this.inventory.defaultLimits(kind)).limits);
  }

  /** @returns one line per change. @throws ChangedMeanwhile */
  save(kind: Kind, form: DefaultLimitsForm): Promise<readonly string[]> {
    const expected = {
      subject: { kind: 'limits', name: TITLES[kind], id: kind },
      revision: form.revision,
    } as const;
    return this.desk.put({ limits: { [kind]: limitsEntry(form) } }, { protocols: this.adapters.defaultAuth, expected });
  }
}
