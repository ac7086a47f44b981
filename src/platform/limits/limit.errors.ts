import { AppError } from '../shared/index.js';
import { LARGEST_LIMIT } from './limit-names.js';

export class LimitNotPossible extends AppError {
  constructor(name: string) {
    super(
      'invalid_request',
      `The limit ${name} must be an integer from 1 to ${LARGEST_LIMIT.toLocaleString('en-US')}.`,
      { param: name },
    );
  }
}
