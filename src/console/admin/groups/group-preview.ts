import type { GroupDefinition } from '../../../catalog/index.js';
import type { Inventory } from '../../../catalog/channels/index.js';
import { times } from '../../../platform/format/index.js';
import { multiplierIn, sampleCost } from '../models/pay-preview.js';

/**
 * Cost of a sample call for each model of a group, before and after a change, in nano-dollars. A new group shows all
 * models, because models are added to groups on their own pages.
 */
export function groupPreview(
  { models, channels }: Inventory,
  before: GroupDefinition | undefined,
  after: GroupDefinition | undefined,
) {
  const name = before?.name;
  if (before === undefined && after === undefined) return [];
  return models.flatMap(({ name: model, enabled, definition }) => {
    if (!enabled || definition === undefined) return [];
    if (name !== undefined && !definition.groups.includes(name)) return [];
    const cost = (group: GroupDefinition | undefined) =>
      group && sampleCost(definition.pricing, multiplierIn(group, model));
    return [
      {
        model,
        multiplier: after && times(multiplierIn(after, model)),
        unserved:
          name !== undefined && !channels.some((one) => one.models.includes(model) && one.groups.includes(name)),
        now: cost(before),
        after: cost(after),
      },
    ];
  });
}
