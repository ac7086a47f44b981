import { shortDay, usd } from '../../platform/format/index.js';
import type { AllowanceOutlook } from './allowance-outlook.js';

/** How pages tell of an allowance. */
export function allowanceView({ monthly, running }: AllowanceOutlook) {
  const change = running && monthly !== running.granted;
  return {
    monthly: `${usd(running?.granted ?? monthly)} a month`,
    left: running && `${usd(running.remaining)} left until ${shortDay(running.until, 'UTC')}, 00:00 UTC`,
    next: change ? nextText(monthly, shortDay(running.until, 'UTC')) : '',
  };
}

const nextText = (monthly: bigint, day: string): string =>
  monthly === 0n ? 'No further allowance after that.' : `${usd(monthly)} per month from ${day}.`;

/** `$13.20 of it until 1 Dec UTC`; nothing where nothing is left of one. */
export function expiryNote(allowance: AllowanceOutlook | undefined): string {
  const running = allowance?.running;
  if (running === undefined || running.remaining === 0n) return '';
  return `${usd(running.remaining)} of it until ${shortDay(running.until, 'UTC')} UTC`;
}
