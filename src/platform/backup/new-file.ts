import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { codeOf, reasonOf } from '../shared/index.js';
import { BackupFailed } from './backup.errors.js';
import { checksumLine } from './backup-format.js';

/**
 * A file with mode 0600 that is written under a temporary name and linked to its path when complete. Never replaces an
 * existing file. Always call `discard` in the end: it removes the temporary file.
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

  /** Appends the checksum and links the file to its path. Returns its size in bytes. @throws BackupFailed */
  async publish(): Promise<number> {
    await this.write(checksumLine(this.hash.copy().digest('hex')));
    await this.handle.sync();
    try {
      await link(this.aside, this.path); // a rename would replace a file created meanwhile
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
