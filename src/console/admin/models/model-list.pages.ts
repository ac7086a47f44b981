import { Injectable } from '@nestjs/common';
import { CatalogInventory } from '../../../catalog/channels/index.js';
import { Page } from '../../web/index.js';
import type { ListQuery } from '../list-address.js';
import { ModelMargins } from './model-margins.js';
import { modelListView } from './model-list.view.js';

/** `/admin/models`: the model list, filtered by query parameters. */
@Injectable()
export class ModelListPages {
  constructor(
    private readonly inventory: CatalogInventory,
    private readonly margins: ModelMargins,
  ) {}

  async list(query: ListQuery): Promise<Page> {
    const [inventory, margins] = await Promise.all([this.inventory.all(), this.margins.byModel()]);
    return new Page('admin/models', { title: 'Models & prices', data: modelListView(inventory, margins, query) });
  }
}
