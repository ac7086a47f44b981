import { Injectable } from '@nestjs/common';
import { type KeyNotice, KeyNotices } from '../index.js';
import { Clock } from '../../platform/shared/index.js';
import { dateTime, usd, zoneName } from '../../platform/format/index.js';
import { AccountNotices, type AccountNoticeText } from './account-notices.js';

/** Older notices are not emailed. Matches the time for which an email is retried. */
const FRESH_MS = 24 * 60 * 60_000;

/** Emails notices of unusual key usage, which the key watch detects. */
@Injectable()
export class KeyNoticeMails {
  /** IDs of the notices that this process has already raised; skips the lookup on every scan. Raising is idempotent. */
  private passed: ReadonlySet<string> = new Set();

  constructor(
    private readonly found: KeyNotices,
    private readonly mails: AccountNotices,
    private readonly clock: Clock,
  ) {}

  /** Raises notices of the last day that are not raised yet. */
  async look(): Promise<void> {
    const notices = await this.found.addedSince(new Date(this.clock.now() - FRESH_MS));
    for (const notice of notices) if (!this.passed.has(notice.id)) await this.pass(notice);
    this.passed = new Set(notices.map(({ id }) => id));
  }

  private async pass(notice: KeyNotice): Promise<void> {
    const { kind, accountId, keyId, occasion } = notice;
    await this.mails.raise({ kind, accountId, keyId, occasion, words: wordsOf(notice) });
  }
}

function wordsOf(notice: KeyNotice): AccountNoticeText {
  const title = titleOf(notice);
  const at = `${dateTime(notice.at, notice.timeZone)} ${zoneName(notice.at, notice.timeZone)}`;
  return {
    subject: title,
    heading: title,
    paragraphs: [
      WHAT_HAPPENED[notice.kind],
      'The key’s page shows where its calls came from and lets you disable it. If this was expected, dismiss the notice there.',
    ],
    figures:
      notice.kind === 'new-network'
        ? [
            { label: 'IP address', value: notice.address },
            { label: 'Network', value: notice.network },
            { label: 'First call', value: at },
          ]
        : [
            { label: 'Charged within an hour', value: usd(notice.spent) },
            { label: 'Highest previous hour', value: usd(notice.usual) },
            { label: 'Until', value: at },
          ],
    button: { label: 'View key', path: `/keys/${notice.keyId}` },
  };
}

const titleOf = ({ kind, keyName }: KeyNotice): string =>
  kind === 'new-network' ? `Key “${keyName}” was used from a new network` : `Key “${keyName}” has unusually high usage`;

const WHAT_HAPPENED: Readonly<Record<KeyNotice['kind'], string>> = {
  'new-network': 'This key was used from a network for the first time. If this was not you, the key may have leaked.',
  'unusual-volume':
    'Within an hour, this key was charged more than five times as much as in any hour of the previous 14 days. A client may be out of control, or the key may have leaked.',
};
