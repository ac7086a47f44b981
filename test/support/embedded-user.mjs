// A process that uses the embedded server of the DATA_DIR it is given: prints the address, releases when stdin ends.
import './typescript-hooks.mjs';

const { startEmbedded } = await import('../../src/platform/database/embedded/index.ts');
const server = await startEmbedded({ dataDir: process.argv[2], log: (line) => process.stderr.write(`${line}\n`) });
process.stdout.write(`${server.url}\n`);
process.stdin.resume().once('end', () => void server.release());
