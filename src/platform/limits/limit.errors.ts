import { AppError } from '../shared/index.js';
import { LARGEST_LIMIT } from './limit-names.js';

export class LimitNotPossible extends AppError {
  constructor(name: string) {
    super(
      'invalid_request',
      `The limit ${name} must be a whole number from 1 to ${LARGEST_LIMIT.toLocaleString('en-US')}.`,
      { param: name },
    );
  }
}
