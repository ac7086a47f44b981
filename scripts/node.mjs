// Runs a program on the Node that this project pins, whatever Node the host has: node scripts/node.mjs PROGRAM ARGS…
import { runNode } from './pinned-node.mjs';

process.exitCode = await runNode(process.argv.slice(2));
