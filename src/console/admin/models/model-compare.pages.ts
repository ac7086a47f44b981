import { Injectable } from '@nestjs/common';
import { PriceHistory } from '../../../catalog/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { Page } from '../../web/index.js';
import { modelAddress } from './model-address.js';
import { comparedItems } from './price-items.js';

/** Two versions of a model's prices, side by side. */
@Injectable()
export class ModelComparePages {
  constructor(private readonly history: PriceHistory) {}

  /** @param before @param after version numbers. @throws AppError not_found */
  async compare(name: string, before: string, after: string): Promise<Page> {
    const versions = await this.history.of(name);
    const [older, newer] = [before, after].map((wanted) => versions.find(({ number }) => String(number) === wanted));
    if (older === undefined || newer === undefined)
      throw new AppError('not_found', `${name} does not have these price versions.`);
    const href = modelAddress(name);
    const title = `Versions ${older.number} and ${newer.number}`;
    const choices = (chosen: number) =>
      versions.map(({ number }) => ({ value: number, label: String(number), selected: number === chosen }));
    return new Page('admin/model-compare', {
      title,
      width: 'narrow',
      data: {
        title,
        name,
        href,
        crumbs: [{ href: '/admin/models', label: 'Models & prices' }, { href, label: name }, { label: title }],
        older,
        newer,
        items: comparedItems(older.pricing, newer.pricing),
        befores: choices(older.number),
        afters: choices(newer.number),
      },
    });
  }
}
