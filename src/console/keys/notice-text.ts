import { dayOf } from '../../platform/shared/index.js';
import { logAddress, usageQuery } from '../usage/index.js';
import { dateTime, usd } from '../../platform/format/index.js';
import type { KeyNotice } from '../../keys/index.js';

/** A notice as pages and mails say it. */
export interface KeyNoticeText {
  readonly title: string;
  /** What happened, as it follows the name of the key: `was used from …`. */
  readonly text: string;
  /** Of the button that acknowledges it. */
  readonly known: string;
  /** The calls of the key on that day. */
  readonly calls: string;
}

/** @param timeZone of whoever reads it */
export function noticeText(notice: KeyNotice, timeZone: string): KeyNoticeText {
  const day = dayOf(notice.at, timeZone);
  const log = usageQuery({ range: 'custom', from: day, to: day, key: notice.keyId }, notice.at, timeZone);
  const calls = logAddress(log);
  const at = dateTime(notice.at, timeZone);
  if (notice.kind === 'new-network') {
    const { address, network } = notice;
    const text = `was used from ${address} on ${at}, for the first time from this network (${network})`;
    return { title: 'Used from a new network', text, known: 'It was me', calls };
  }
  const { spent, usual } = notice;
  const before =
    usual === 0n ? 'nothing in the previous 14 days' : `at most ${usd(usual)} per hour in the previous 14 days`;
  const text = `was charged ${usd(spent)} in the hour before ${at}, compared with ${before}`;
  return { title: 'Unusually high usage', text, known: 'This was expected', calls };
}
