import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeAnswers } from './answers.js';
import { DIALECTS_UNDER_TEST } from './dialects.js';
import { describeErrors } from './errors.js';
import { describeLimits } from './limits.js';
import { describeRequests } from './requests.js';

const PROTOCOLS = resolve(import.meta.dirname, '../../src/protocols');

it('every dialect that has a folder is tested here', () => {
  const entries = readdirSync(PROTOCOLS, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(Object.keys(DIALECTS_UNDER_TEST).toSorted()).toEqual(folders.toSorted());
});

describe.each(Object.entries(DIALECTS_UNDER_TEST))('%s', (_, dialect) => {
  describe('answers', () => {
    describeAnswers(dialect);
  });
  describe('errors', () => {
    describeErrors(dialect);
  });
  describe('limits', () => {
    describeLimits(dialect);
  });
  describe('requests', () => {
    describeRequests(dialect);
  });
});
