import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { codeOf, reasonOf } from '../shared/index.js';
import { BackupFailed } from './backup.errors.js';
import { checksumLine } from './backup-format.js';

/**
 * A file that only we can read, written beside its place and put there when it is whole. One that stands there already is
 * never replaced. Whoever makes it discards it in the end, which takes away what was not put into its place.
 */
export class NewFile {
  private readonly hash = createHash('sha256');
  private bytes = 0;

  private constructor(
    private readonly path: string,
    private readonly aside: string,
    private readonly handle: FileHandle,
  ) {}

  /** @throws BackupFailed */
  static async create(path: string): Promise<NewFile> {
    if (existsSync(path)) throw standsThere(path);
    const aside = `${path}.${process.pid}.unfinished`;
    try {
      return new NewFile(path, aside, await open(aside, 'wx', 0o600));
    } catch (error) {
      throw new BackupFailed(`${path} cannot be written: ${reasonOf(error)}.`, error);
    }
  }

  async write(piece: string | Buffer): Promise<void> {
    const bytes = Buffer.from(piece);
    this.hash.update(bytes);
    this.bytes += bytes.length;
    await this.handle.appendFile(bytes);
  }

  /** Ends it with its checksum and puts it into its place. Gives its size in bytes. @throws BackupFailed */
  async publish(): Promise<number> {
    await this.write(checksumLine(this.hash.copy().digest('hex')));
    await this.handle.sync();
    try {
      await link(this.aside, this.path); // a rename would replace what was put there meanwhile
    } catch (error) {
      throw codeOf(error) === 'EEXIST' ? standsThere(this.path) : error;
    }
    return this.bytes;
  }

  async discard(): Promise<void> {
    await this.handle.close();
    await rm(this.aside, { force: true });
  }
}

const standsThere = (path: string): BackupFailed =>
  new BackupFailed(`${path} already exists. Choose a new file name; backups never overwrite files.`);
