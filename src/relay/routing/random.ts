import { Injectable } from '@nestjs/common';

/** Chance; injected, so that a test can decide it. */
@Injectable()
export class Random {
  /** From 0 up to, not including, 1. */
  next(): number {
    return Math.random();
  }
}
