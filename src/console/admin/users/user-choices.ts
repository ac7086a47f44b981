import { Injectable } from '@nestjs/common';
import { AccountService, InvalidAccount } from '../../../auth/index.js';
import { CatalogEditor, DEFAULT_GROUP } from '../../../catalog/index.js';

/** What can be chosen for a user. */
@Injectable()
export class UserChoices {
  constructor(
    private readonly accounts: AccountService,
    private readonly catalog: CatalogEditor,
  ) {}

  /** Names of the groups that there are, `default` first. */
  async groups(): Promise<readonly string[]> {
    const { groups } = await this.accounts.within((manager) => this.catalog.names(manager));
    return [DEFAULT_GROUP, ...[...groups].filter((name) => name !== DEFAULT_GROUP).toSorted()];
  }

  /** What an account stores of a choice: undefined stands for `default`. @throws InvalidAccount */
  async groupName(chosen: string): Promise<string | undefined> {
    if (!(await this.groups()).includes(chosen))
      throw new InvalidAccount('group', 'Choose one of the groups in the list.');
    return chosen === DEFAULT_GROUP ? undefined : chosen;
  }
}

export const groupOptions = (groups: readonly string[]) => groups.map((name) => ({ value: name, label: name }));
