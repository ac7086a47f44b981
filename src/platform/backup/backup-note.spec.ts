import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasBackup, noteBackup } from './backup-note.js';

describe('the note of a backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backup-note-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('says in DATA_DIR when the last one was made', async () => {
    expect(hasBackup(folder)).toBe(false);
    await noteBackup(folder, new Date('2026-11-27T12:00:00Z'));
    expect(hasBackup(folder)).toBe(true);
    expect(readFileSync(join(folder, 'last-backup'), 'utf8')).toBe('2026-11-27T12:00:00.000Z\n');
  });

  it('does not fail a backup when DATA_DIR cannot be written', async () => {
    await expect(noteBackup(join(folder, 'missing'), new Date())).resolves.toBeUndefined();
  });
});
