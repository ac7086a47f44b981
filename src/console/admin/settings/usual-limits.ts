import { Injectable } from '@nestjs/common';
import { CatalogDesk, CatalogInventory } from '../../../catalog/channels/index.js';
import { USUALLY_LIMITED } from '../../../platform/limits/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { Form } from '../../web/index.js';
import { limitsEntry, limitValues, type UsualLimitsForm } from './usual-limits.form.js';

/** Who has usual limits. */
export type Kind = (typeof USUALLY_LIMITED)[number];

const TITLES: Readonly<Record<Kind, string>> = { key: 'A key', account: 'An account', address: 'An address' };

/** The limits of a kind as their form shows them. */
interface UsualLimitsView {
  readonly kind: Kind;
  readonly title: string;
  readonly form: Form<UsualLimitsForm>;
  readonly revision: unknown;
}

/** A form of limits that came back. */
export interface FilledLimits {
  readonly kind: Kind;
  readonly form: Form<UsualLimitsForm>;
  /** Whether what there is now is shown beside it. */
  readonly conflict: boolean;
}

/** The usual limits of keys, accounts and addresses: a part of the catalog, changed by its rules. */
@Injectable()
export class UsualLimitSettings {
  constructor(
    private readonly desk: CatalogDesk,
    private readonly inventory: CatalogInventory,
    private readonly adapters: AdapterRegistry,
  ) {}

  views(filled: FilledLimits | undefined): Promise<readonly UsualLimitsView[]> {
    return Promise.all(
      USUALLY_LIMITED.map(async (kind) => {
        const { limits, revision } = await this.inventory.usualLimits(kind);
        const here = filled?.kind === kind ? filled : undefined;
        return {
          kind,
          title: TITLES[kind],
          form: here?.form ?? Form.empty<UsualLimitsForm>(limitValues(limits)),
          revision: here === undefined || here.conflict ? revision : here.form.values['revision'],
        };
      }),
    );
  }

  /** What stands in the fields now. */
  async now(kind: Kind): Promise<ReturnType<typeof limitValues>> {
    return limitValues((await this.inventory.usualLimits(kind)).limits);
  }

  /** @returns a line for each change. @throws ChangedMeanwhile */
  save(kind: Kind, form: UsualLimitsForm): Promise<readonly string[]> {
    const seen = {
      subject: { kind: 'limits', name: TITLES[kind].toLowerCase(), id: kind },
      revision: form.revision,
    } as const;
    return this.desk.put({ limits: { [kind]: limitsEntry(form) } }, { protocols: this.adapters.usualAuth, seen });
  }
}
