import type { GroupDefinition } from '../../catalog/index.js';
import type { Inventory } from '../../channels/index.js';
import { times } from '../../web/index.js';
import { multiplierIn, sampleCost } from '../models/pay-preview.js';

/** What a usual call of each model of a group comes to, before a change and after it; amounts in nano-dollars. */
export function groupPreview(
  { models, channels }: Inventory,
  before: GroupDefinition | undefined,
  after: GroupDefinition | undefined,
) {
  const name = (before ?? after)?.name ?? '';
  return models.flatMap(({ name: model, enabled, definition }) => {
    if (!enabled || !definition?.groups.includes(name)) return [];
    const cost = (group: GroupDefinition | undefined) =>
      group && sampleCost(definition.pricing, multiplierIn(group, model));
    return [
      {
        model,
        multiplier: after && times(multiplierIn(after, model)),
        served: channels.some((channel) => channel.models.includes(model) && channel.groups.includes(name)),
        now: cost(before),
        after: cost(after),
      },
    ];
  });
}
