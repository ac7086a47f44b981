import type { RecordedPrices } from '../../../catalog/index.js';
import { shortDay } from '../../../platform/format/index.js';
import { changeText } from './price-items.js';

/** Version list, newest first, with the changes from the previous version. */
export const versionRows = (versions: readonly RecordedPrices[], address: string, timeZone: string) => {
  const isInForce = versions.some(({ state }) => state === 'in-force');
  return versions.map((version, index) => {
    const before = versions[index + 1];
    return {
      number: version.number,
      words: changeText(before?.pricing, version.pricing),
      at: version.createdAt ?? version.validFrom,
      validFrom: version.validFrom,
      time: version.validFrom.toISOString(),
      author: version.author,
      reason: version.reason,
      isInForce: version.state === 'in-force',
      isUpcoming: version.state === 'upcoming',
      isWithdrawn: version.state === 'withdrawn',
      from: `From ${shortDay(version.validFrom, timeZone)}`,
      // A model without current prices must keep its first ones.
      canWithdraw: version.state === 'upcoming' && isInForce,
      compare: before && `${address}?compare=${before.number}&with=${version.number}`,
    };
  });
};
