import { Injectable } from '@nestjs/common';
import { AccountService, InvalidAccount } from '../../../auth/index.js';
import { CatalogEditor, DEFAULT_GROUP } from '../../../catalog/index.js';

/** The groups that a user can be assigned to. */
@Injectable()
export class UserChoices {
  constructor(
    private readonly accounts: AccountService,
    private readonly catalog: CatalogEditor,
  ) {}

  /** Names of all groups, `default` first. */
  async groups(): Promise<readonly string[]> {
    const { groups } = await this.accounts.within((manager) => this.catalog.names(manager));
    return [DEFAULT_GROUP, ...[...groups].filter((name) => name !== DEFAULT_GROUP).toSorted()];
  }

  /** The group name as an account stores it; undefined for `default`. @throws InvalidAccount */
  async groupName(chosen: string): Promise<string | undefined> {
    if (!(await this.groups()).includes(chosen)) throw new InvalidAccount('group', 'Choose a group from the list.');
    return chosen === DEFAULT_GROUP ? undefined : chosen;
  }
}

export const groupOptions = (groups: readonly string[]) => groups.map((name) => ({ value: name, label: name }));
