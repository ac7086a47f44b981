import { describeAnswers } from './answers.js';
import { DIALECTS_UNDER_TEST } from './dialects.js';
import { describeErrors } from './errors.js';
import { describeRequests } from './requests.js';

describe.each(Object.entries(DIALECTS_UNDER_TEST))('%s', (_, dialect) => {
  describe('answers', () => {
    describeAnswers(dialect);
  });
  describe('errors', () => {
    describeErrors(dialect);
  });
  describe('requests', () => {
    describeRequests(dialect);
  });
});
