import { Injectable } from '@nestjs/common';
import { type KeyNotice, KeyNotices } from '../index.js';
import { Clock } from '../../platform/shared/index.js';
import { dateTime, usd, zoneName } from '../../platform/format/index.js';
import { AccountNotices, type AccountNoticeText } from './account-notices.js';

/** What is older is not mailed any more: as long as a mail is tried. */
const FRESH_MS = 24 * 60 * 60_000;

/** Has owners of keys mailed what is unusual about their use. Keys find it themselves, and know nothing of mail. */
@Injectable()
export class KeyNoticeMails {
  /** What this process has passed on, so that it is not tried at every look: once it is raised, nobody raises it again. */
  private passed: ReadonlySet<string> = new Set();

  constructor(
    private readonly found: KeyNotices,
    private readonly mails: AccountNotices,
    private readonly clock: Clock,
  ) {}

  /** Raises each notice of the last day, as far as nobody has done so. */
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
            { label: 'Address', value: notice.address },
            { label: 'Network', value: notice.network },
            { label: 'First call', value: at },
          ]
        : [
            { label: 'Charged within an hour', value: usd(notice.spent) },
            { label: 'Largest hour before', value: usd(notice.usual) },
            { label: 'Until', value: at },
          ],
    button: { label: 'View key', path: `/keys/${notice.keyId}` },
  };
}

const titleOf = ({ kind, keyName }: KeyNotice): string =>
  kind === 'new-network' ? `Key “${keyName}” was used from a new network` : `Key “${keyName}” has unusually high usage`;

const WHAT_HAPPENED: Readonly<Record<KeyNotice['kind'], string>> = {
  'new-network':
    'A call came from a network from which this key was never used before. If this was not you, the key may have leaked.',
  'unusual-volume':
    'Its calls of one hour cost more than five times as much as any hour of the previous 14 days. A client may be out of control, or the key may have leaked.',
};
