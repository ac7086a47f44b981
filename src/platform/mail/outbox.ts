import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Mail } from './mail.js';
import { messageOf } from './message.js';

/** Strangers can have mail written: only the latest of it is kept. */
const KEPT = 500;

/** A mail, or what was to be one when the process died. */
const MAIL = /\.eml(?:\.tmp)?$/;

/** Where mail goes that no server takes: files that any mail program opens, `DATA_DIR/outbox/<time>-<random>.eml`. */
export class Outbox {
  private readonly folder: string;
  private readonly composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'outbox');
  }

  /** @returns the file, absolute */
  async put(mail: Mail, from: string): Promise<string> {
    const { message } = await this.composer.sendMail(messageOf(mail, from));
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const time = new Date().toISOString().replaceAll(/[-:.]/g, '');
    const file = join(this.folder, `${time}-${randomBytes(4).toString('hex')}.eml`);
    // Whole before it has its name: nobody ever reads half a mail.
    await writeFile(`${file}.tmp`, message, { mode: 0o600, flag: 'wx' });
    await rename(`${file}.tmp`, file);
    await this.prune();
    return file;
  }

  /** Names begin with the time, so the first are the oldest. */
  private async prune(): Promise<void> {
    const mails = (await readdir(this.folder)).filter((name) => MAIL.test(name)).toSorted();
    for (const name of mails.slice(0, -KEPT)) await rm(join(this.folder, name), { force: true });
  }
}
